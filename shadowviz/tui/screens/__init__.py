"""The screens, one a file; `registry` names them in order."""

"""Parts of screens: lines of rows, panes of text, and the lines at the head and foot of every screen."""

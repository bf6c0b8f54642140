"""What a picture holds, without a format: boxes, lanes, cells, and the theme that gives them looks."""

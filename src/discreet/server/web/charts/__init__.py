"""Pictures of released numbers, as SVG inside a page."""

"""In a notebook: a query on a map. The only import of anywidget; an extra, `sanderling[notebook]`."""

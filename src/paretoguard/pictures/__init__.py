"""Pictures of results and of studies. matplotlib is loaded when something is drawn, never before."""

"""An open world of true and false statements about changes, for the benchmark of lies."""

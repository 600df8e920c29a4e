"""One audit of each estimator, optimiser and learner, each with a twin that makes a mistake."""

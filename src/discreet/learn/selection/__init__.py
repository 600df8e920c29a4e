"""Model selection that is paid for: folds, scores, cross-validation, search by random stopping."""

"""Knowing who somebody is: passwords, tokens, one-time links, browser logins, OpenID Connect."""

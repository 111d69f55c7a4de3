"""Listings: what registries, catalogs and clients read about a published server, and how they install it."""

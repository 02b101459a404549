"""The documentation: pages, the generator of the reference pages, and the build of the site."""

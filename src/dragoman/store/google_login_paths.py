"""The files of logins at Google, one for each upstream, in the user's data folder. google-auth reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from .installation_secret import data_folder


def google_login_file(environment: Mapping[str, str], upstream: str) -> Path:
    """The file with the credentials of an upstream."""
    # The name stands in a configuration file, and must not lead out of the folder.
    name = re.sub(r"[^\w-]", lambda found: f"%{ord(found[0]):02x}", upstream)
    return data_folder(environment) / "google" / f"{name}.json"

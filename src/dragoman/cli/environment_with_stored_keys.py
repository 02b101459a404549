"""The environment of the commands that send requests to upstreams: the variables, and the stored keys."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..store.upstream_keys import UpstreamKeys
from ..transport.upstream_record_and_environment import known_environments


def user_environment() -> Mapping[str, str]:
    """The environment, with the stored key of each upstream whose variables are empty. ConfigError where the stored
    keys cannot be used."""
    return UpstreamKeys(os.environ).environment_with_keys([usual.keys for _, usual in known_environments()])

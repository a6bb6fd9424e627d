"""Applies user data as cloud-init's boot stages do, with cloud-init's own modules, to the root it runs in."""
import json
import logging
import sys

from cloudinit import distros, helpers, subp, util
from cloudinit.config import (
    cc_bootcmd,
    cc_runcmd,
    cc_ssh,
    cc_users_groups,
    cc_write_files,
    cc_write_files_deferred,
)
from cloudinit.handlers.jinja_template import render_jinja_payload

LOG = logging.getLogger()
logging.basicConfig(level=logging.WARNING, stream=sys.stderr)


class Cloud:
    """The few things that modules ask for."""

    def __init__(self, distro, metadata):
        self.distro = distro
        self.metadata = metadata

    def get_instance_id(self):
        return self.metadata.get("instance_id")

    def get_public_ssh_keys(self):
        return []

    def get_ipath(self, name):
        return "/var/lib/cloud/instance/" + name


given = json.load(sys.stdin)
text, metadata = given["text"], given["metadata"]
if text.startswith("## template: jinja"):
    text = render_jinja_payload(text, "user-data", {"ds": {"meta_data": metadata}, "v1": metadata, **metadata})
config = {"ssh_deletekeys": False, "ssh_genkeytypes": [], "disable_root": False, **(util.load_yaml(text) or {})}
paths = helpers.Paths({"cloud_dir": "/var/lib/cloud", "run_dir": "/var/lib/cloud/run"})
cloud = Cloud(distros.fetch("debian")("debian", {}, paths), metadata)
modules = [cc_bootcmd, cc_write_files, cc_users_groups, cc_ssh, cc_write_files_deferred, cc_runcmd]
if "ssh_authorized_keys" not in config:
    modules.remove(cc_ssh)  # It would make an empty file for root.
for module in modules:
    module.handle(module.__name__, config, cloud, LOG, [])
subp.runparts(cloud.get_ipath("scripts"))

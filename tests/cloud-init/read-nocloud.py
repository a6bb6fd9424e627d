"""Reads the files of a NoCloud seed with cloud-init's own data source, and its network configuration with cloud-init's own parser."""
import json
import logging
import sys

from cloudinit import helpers
from cloudinit.net import network_state
from cloudinit.sources import DataSourceNoCloud

logging.disable(logging.CRITICAL)


def text(data):
    return data.decode() if isinstance(data, bytes) else data


def addressed(subnet):
    address = subnet.get("address")
    return subnet["type"] if address is None else f'{subnet["type"]} {address}/{subnet["prefix"]}'


folder = sys.argv[1]
paths = helpers.Paths({"cloud_dir": folder + "/cloud", "run_dir": folder + "/run"})
source = DataSourceNoCloud.DataSourceNoCloud({"datasource": {"NoCloud": {"fs_label": None}}}, None, paths)
source.seed_dirs = [folder + "/seed"]
found = source._get_data()
config = source.network_config
state = None if config is None else network_state.parse_net_config_data(config)
json.dump(
    {
        "found": found,
        "instanceId": source.get_instance_id(),
        "metadata": source.metadata,
        "userData": text(source.userdata_raw),
        "vendorData": text(source.vendordata_raw),
        "interfaces": None
        if state is None
        else {
            one["name"]: [addressed(subnet) for subnet in one.get("subnets", [])]
            for one in state.iter_interfaces()
        },
    },
    sys.stdout,
)

"""Reads user data with cloud-init's own modules, as its stages do: template, YAML, schema, decoding of files."""
import base64
import json
import logging
import sys

from cloudinit import util
from cloudinit.config import cc_write_files
from cloudinit.config.schema import get_schema, validate_cloudconfig_schema
from cloudinit.handlers.jinja_template import render_jinja_payload

logging.disable(logging.CRITICAL)


def contents_of(entry):
    kinds = cc_write_files.canonicalize_extraction(entry.get("encoding"))
    data = cc_write_files.extract_contents(entry.get("content", ""), kinds)
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def read(text, metadata):
    if text.startswith("## template: jinja"):
        text = render_jinja_payload(text, "user-data", {"ds": {"meta_data": metadata}, "v1": metadata, **metadata})
    config = util.load_yaml(text) or {}
    problem = None
    try:
        validate_cloudconfig_schema(config, get_schema(), strict=True)
    except Exception as error:
        problem = str(error)
    files = [
        {
            "path": entry["path"],
            "content": contents_of(entry),
            "mode": cc_write_files.decode_perms(entry.get("permissions"), 0o644),
            "owner": entry.get("owner", "root:root"),
            "append": bool(entry.get("append")),
        }
        for entry in config.get("write_files") or []
    ]
    return {"config": config, "files": files, "problem": problem}


given = json.load(sys.stdin)
json.dump([read(item["text"], item["metadata"]) for item in given], sys.stdout)

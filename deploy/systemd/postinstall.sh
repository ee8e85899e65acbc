#!/bin/sh
# After an installation and after an upgrade, of a deb or an rpm.
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
# A gateway that runs becomes the new version without refusing a connection, if that accepts
# the configuration. Nothing is started that nobody has started.
if systemctl is-active --quiet a2a-gateway.service; then
  systemctl kill --kill-whom=main -s USR2 a2a-gateway.service
fi

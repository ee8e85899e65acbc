#!/bin/sh
# After an installation and after an upgrade, of a deb or an rpm.
set -e
# The group that the service reads its files by, and the file of API keys, which `a2a-gateway keys`
# leaves to whom it belongs. One that is there is the operator's.
group=a2a-gateway-config
if ! getent group $group >/dev/null; then
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers a2a-gateway.conf
  else
    groupadd --system $group
  fi
fi
keys=/etc/a2a-gateway/keys.yaml
[ -e $keys ] || install -m 640 -o root -g $group /dev/null $keys
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
# A gateway that runs becomes the new version without refusing a connection, if that accepts
# the configuration. Nothing is started that nobody has started.
if systemctl is-active --quiet a2a-gateway.service; then
  systemctl kill --kill-whom=main -s USR2 a2a-gateway.service
fi

# A program on VPP's own Python client: it watches interfaces while it makes and deletes one, and prints what VPP answers.
import sys
import threading

from vpp_papi import VPPApiClient

vpp = VPPApiClient(apidir=sys.argv[2], server_address=sys.argv[1])
vpp.connect("papi client")
seen, deleted = [], threading.Event()


def heard(name, message):
    seen.append((name, message.sw_if_index, message.deleted))
    if message.deleted:
        deleted.set()


vpp.register_event_callback(heard)
print("version", vpp.api.show_version().version[:5])
print("wanted", vpp.api.want_interface_events(enable_disable=True, pid=7).retval)
loop = vpp.api.create_loopback()
print("loopback", loop.retval, loop.sw_if_index)
print("address", vpp.api.sw_interface_add_del_address(sw_if_index=1, is_add=True, prefix="fd00::1/64").retval)
print("again", vpp.api.sw_interface_add_del_address(sw_if_index=1, is_add=True, prefix="fd00::1/64").retval)
for d in vpp.api.ip_address_dump(sw_if_index=1, is_ipv6=True):
    print("has", d.prefix)
for d in vpp.api.sw_interface_dump():
    print("interface", d.sw_if_index, d.interface_name, list(d.mtu))
rules = [{"is_permit": 1, "src_prefix": "10.1.0.0/16", "dst_prefix": "0.0.0.0/0", "proto": 6, "srcport_or_icmptype_last": 65535, "dstport_or_icmpcode_last": 80}]
acl = vpp.api.acl_add_replace(acl_index=0xFFFFFFFF, tag="python", count=1, r=rules)
print("acl", acl.retval, acl.acl_index)
for d in vpp.api.acl_dump(acl_index=0xFFFFFFFF):
    print("acl", d.acl_index, d.tag, d.r[0].src_prefix, d.r[0].dstport_or_icmpcode_last)
print("gone", vpp.api.acl_del(acl_index=9).retval)
print("command", repr(vpp.api.cli_inband(cmd="show interface loop0").reply))
print("deleted", vpp.api.delete_loopback(sw_if_index=1).retval)
print("event", deleted.wait(5), seen[-1])
vpp.disconnect()

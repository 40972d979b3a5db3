// A program on VPP's C library VAPI: it makes a loopback with an address twice, and prints what VPP answers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vapi/vapi.h>
#include <vapi/memclnt.api.vapi.h>
#include <vapi/vlib.api.vapi.h>
#include <vapi/vpe.api.vapi.h>
#include <vapi/interface.api.vapi.h>

DEFINE_VAPI_MSG_IDS_MEMCLNT_API_JSON;
DEFINE_VAPI_MSG_IDS_VLIB_API_JSON;
DEFINE_VAPI_MSG_IDS_VPE_API_JSON;
DEFINE_VAPI_MSG_IDS_INTERFACE_API_JSON;

static int loop = -1;

static vapi_error_e
version (vapi_ctx_t ctx, void *arg, vapi_error_e rv, bool last, vapi_payload_show_version_reply *p)
{
  printf ("version %.5s of %s\n", p->version, p->program);
  return VAPI_OK;
}

static vapi_error_e
loopback (vapi_ctx_t ctx, void *arg, vapi_error_e rv, bool last, vapi_payload_create_loopback_reply *p)
{
  printf ("create_loopback: %d, interface %u\n", p->retval, loop = p->sw_if_index);
  return VAPI_OK;
}

static vapi_error_e
address (vapi_ctx_t ctx, void *arg, vapi_error_e rv, bool last, vapi_payload_sw_interface_add_del_address_reply *p)
{
  printf ("sw_interface_add_del_address: %d\n", p->retval);
  return VAPI_OK;
}

static vapi_error_e
flags (vapi_ctx_t ctx, void *arg, vapi_error_e rv, bool last, vapi_payload_sw_interface_set_flags_reply *p)
{
  printf ("sw_interface_set_flags: %d\n", p->retval);
  return VAPI_OK;
}

static vapi_error_e
details (vapi_ctx_t ctx, void *arg, vapi_error_e rv, bool last, vapi_payload_sw_interface_details *p)
{
  if (p)
    printf ("interface %u: %s flags %d mtu %u\n", p->sw_if_index, p->interface_name, p->flags, p->mtu[0]);
  if (last)
    printf ("that is all\n");
  return VAPI_OK;
}

static void
must (const char *what, vapi_error_e rv)
{
  if (rv == VAPI_OK)
    return;
  printf ("%s: error %d\n", what, rv);
  exit (1);
}

static void
add (vapi_ctx_t ctx)
{
  vapi_msg_sw_interface_add_del_address *m = vapi_alloc_sw_interface_add_del_address (ctx);
  m->payload.sw_if_index = loop;
  m->payload.is_add = 1;
  m->payload.prefix.address.af = ADDRESS_IP4;
  memcpy (m->payload.prefix.address.un.ip4, "\x0a\x0a\x00\x01", 4);
  m->payload.prefix.len = 24;
  must ("sw_interface_add_del_address", vapi_sw_interface_add_del_address (ctx, m, address, 0));
}

int
main (int argc, char **argv)
{
  vapi_ctx_t ctx;
  must ("alloc", vapi_ctx_alloc (&ctx));
  must ("connect", vapi_connect_ex (ctx, "vapi client", argv[1], 16, 16, VAPI_MODE_BLOCKING, true, true));
  must ("show_version", vapi_show_version (ctx, vapi_alloc_show_version (ctx), version, 0));
  must ("create_loopback", vapi_create_loopback (ctx, vapi_alloc_create_loopback (ctx), loopback, 0));
  add (ctx);
  add (ctx);
  vapi_msg_sw_interface_set_flags *up = vapi_alloc_sw_interface_set_flags (ctx);
  up->payload.sw_if_index = loop;
  up->payload.flags = IF_STATUS_API_FLAG_ADMIN_UP;
  must ("sw_interface_set_flags", vapi_sw_interface_set_flags (ctx, up, flags, 0));
  vapi_msg_sw_interface_dump *dump = vapi_alloc_sw_interface_dump (ctx, 0);
  dump->payload.sw_if_index = ~0;
  must ("sw_interface_dump", vapi_sw_interface_dump (ctx, dump, details, 0));
  must ("disconnect", vapi_disconnect (ctx));
  vapi_ctx_free (ctx);
  return 0;
}

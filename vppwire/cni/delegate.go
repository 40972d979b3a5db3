//go:build linux

package cni

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// ipam is the IPAM plugin that the configuration names (CNI specification 1.1, section 4); its zero value is none, and
// the agent chooses addresses itself.
type ipam struct {
	path string
	conf []byte
}

// delegate finds the configured IPAM plugin in CNI_PATH.
func (c *Netconf) delegate(cniPath string) (ipam, *failure) {
	if c.IPAM == nil || c.IPAM.Type == "" {
		return ipam{}, nil
	}
	found, err := invoke.FindInPath(c.IPAM.Type, filepath.SplitList(cniPath))
	if err != nil {
		return ipam{}, failed(types.ErrInvalidNetworkConfig, "ipam: %v", err)
	}
	return ipam{path: found, conf: c.raw}, nil
}

func (d ipam) named() bool { return d.path != "" }

// add has the plugin choose an address, or one of each family, in its order. The DNS it knows comes along.
func (d ipam) add(ctx context.Context) ([]netip.Addr, types.DNS, *failure) {
	r, err := invoke.ExecPluginWithResult(ctx, d.path, d.conf, &invoke.DelegateArgs{Command: wire.Add}, nil)
	if err != nil {
		return nil, types.DNS{}, delegated(err)
	}
	result, err := current.NewResultFromResult(r)
	if err != nil {
		return nil, types.DNS{}, delegated(err)
	}
	var addrs []netip.Addr
	for _, one := range result.IPs {
		if one == nil {
			return nil, types.DNS{}, failed(types.ErrDecodingFailure, "ipam: an address is null")
		}
		addr, ok := netip.AddrFromSlice(one.Address.IP)
		if !ok {
			return nil, types.DNS{}, failed(types.ErrDecodingFailure, "ipam: %v is no address", one.Address)
		}
		addrs = append(addrs, addr.Unmap())
	}
	if n := len(addrs); n < 1 || n > 2 || n == 2 && addrs[0].Is4() == addrs[1].Is4() {
		return nil, types.DNS{}, failed(types.ErrInvalidNetworkConfig, "ipam: %d addresses were chosen; the agent takes one, or one of each family", n)
	}
	return addrs, result.DNS, nil
}

// tell passes a command on. With no plugin it does nothing.
func (d ipam) tell(ctx context.Context, command string) *failure {
	if !d.named() {
		return nil
	}
	if err := invoke.ExecPluginWithoutResult(ctx, d.path, d.conf, &invoke.DelegateArgs{Command: command}, nil); err != nil {
		return delegated(err)
	}
	return nil
}

// delegated passes an IPAM plugin's error on with its code.
func delegated(err error) *failure {
	f := failed(types.ErrInternal, "ipam: %v", err)
	var told *types.Error
	if errors.As(err, &told) {
		if told.Code != 0 {
			f.Code = told.Code
		}
		f.Msg = oneLine("ipam: " + told.Msg)
		f.Details = oneLine(told.Details)
	}
	return f
}

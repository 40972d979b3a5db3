//go:build linux

package cni

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// PluginType is the plugin's file name in a CNI bin directory, and the "type" of its configurations.
const PluginType = "vppdrill"

// Conflist describes a network configuration list with this plugin as its first. Its zero fields have the plugin's
// defaults.
type Conflist struct {
	// Name is the network's; empty is "vppdrill".
	Name string
	// CNIVersion is one of Versions; empty is the newest. Podman 4 knows 1.0.0 and older ones.
	CNIVersion  string
	AgentSocket string
	NetnsDirs   []string
	Timeout     time.Duration
	// IPAM names an IPAM plugin that chooses addresses instead of the agent; its own fields have to be added by hand.
	IPAM string
	// PortMap adds the reference plugin "portmap", which gives ports of the host to pods.
	PortMap bool
}

// JSON is the configuration as a file of /etc/cni/net.d has it. The error says what the plugin would refuse.
func (l Conflist) JSON() ([]byte, error) {
	if l.Name == "" {
		l.Name = PluginType
	}
	if l.CNIVersion == "" {
		l.CNIVersion = latest
	}
	own := Netconf{AgentSocket: l.AgentSocket, NetnsDirs: l.NetnsDirs, Timeout: Duration(l.Timeout)}
	if l.IPAM != "" {
		own.IPAM = &types.IPAM{Type: l.IPAM}
	}
	if own.AgentSocket == "" {
		own.AgentSocket = DefaultSocket
	}
	asked := own
	asked.Name, asked.CNIVersion = l.Name, l.CNIVersion
	data, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	if _, f := parseNetconf(data, wire.Add); f != nil {
		return nil, f
	}
	own.Type = PluginType
	type plugin struct {
		Type string      `json:"type"`
		IPAM *types.IPAM `json:"ipam,omitempty"`
		// Our own fields, as Netconf has them.
		AgentSocket string   `json:"agentSocket"`
		NetnsDirs   []string `json:"netnsDirs,omitempty"`
		Timeout     Duration `json:"timeout,omitzero"`
	}
	plugins := []any{plugin{own.Type, own.IPAM, own.AgentSocket, own.NetnsDirs, own.Timeout}}
	if l.PortMap {
		plugins = append(plugins, map[string]any{"type": "portmap", "capabilities": map[string]bool{"portMappings": true}})
	}
	list := struct {
		CNIVersion string `json:"cniVersion"`
		Name       string `json:"name"`
		Plugins    []any  `json:"plugins"`
	}{l.CNIVersion, l.Name, plugins}
	data, err = json.MarshalIndent(list, "", "  ")
	return append(data, '\n'), err
}

// Install puts the program at from into binDir as the plugin, and then a configuration into confDir as NAME.conflist.
// Each file is written beside its place and renamed, so that a runtime that looks at any moment finds a whole one or
// none; a file that is right already is left alone. The folders must exist.
func Install(from, binDir, confDir, name string, conflist []byte) error {
	program, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	defer func() { _ = program.Close() }() // it was read
	if err := place(filepath.Join(binDir, PluginType), program, 0o755); err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	if err := Place(filepath.Join(confDir, name+".conflist"), conflist, 0o644); err != nil {
		return fmt.Errorf("network configuration: %w", err)
	}
	return nil
}

// Place writes a file unless it is there with this content and mode. Nobody sees half of it, not even after a crash.
func Place(path string, content []byte, mode os.FileMode) error {
	return place(path, bytes.NewReader(content), mode)
}

// place reads content piece by piece: a program has a hundred megabytes, and an agent must not keep room for that.
func place(path string, content io.ReadSeeker, mode os.FileMode) (err error) {
	there, err := same(path, content, mode)
	if err != nil || there {
		return err
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = io.Copy(f, content)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// pieceSize is how much of two files is compared at a time.
const pieceSize = 64 << 10

// same reports whether a file is there with this content and mode. The error is about content alone.
func same(path string, content io.Reader, mode os.FileMode) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != mode {
		return false, nil
	}
	there, err := os.Open(path)
	if err != nil {
		return false, nil
	}
	defer func() { _ = there.Close() }() // it was read
	for have, want := make([]byte, pieceSize), make([]byte, pieceSize); ; {
		n, err := io.ReadFull(content, want)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return false, err
		}
		m, _ := io.ReadFull(there, have) // what is short is another
		if !bytes.Equal(want[:n], have[:m]) {
			return false, nil
		}
		if last {
			rest, _ := there.Read(have) // what cannot be read on has ended
			return rest == 0, nil
		}
	}
}

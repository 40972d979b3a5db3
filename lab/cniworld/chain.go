package cniworld

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

// Chain is a network configuration as a file says it, and where its plugins are.
type Chain struct {
	// File is its name, Path the folders with plugins.
	File string
	Path []string

	text *template.Template
	// types are the plugins', those of IPAM among them.
	types []string
	// dataDirs are where its host-local keeps its book.
	dataDirs []string
}

// said is what a configuration may say of its node: the words of containerd's conf_template.
type said struct {
	PodCIDR       string
	PodCIDRRanges []string
	Routes        []string
}

// hostLocalDir is host-local's default.
const hostLocalDir = "/var/lib/cni/networks"

// Load reads a .conflist or .conf file, which may say {{.PodCIDR}}, and finds its plugins. path is as CNI_PATH has it.
func Load(file, path string) (*Chain, error) {
	text, err := inputfile.Read(file)
	if err != nil {
		return nil, err
	}
	c := &Chain{File: file}
	for _, dir := range filepath.SplitList(path) { // plugins look there for others, wherever they run
		whole, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		c.Path = append(c.Path, whole)
	}
	if c.text, err = template.New(filepath.Base(file)).Option("missingkey=error").Parse(string(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	list, err := c.list("", []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24")})
	if err != nil {
		return nil, err
	}
	for _, p := range list.Plugins {
		c.types = append(c.types, p.Network.Type)
		if ipam := p.Network.IPAM.Type; ipam != "" {
			c.types = append(c.types, ipam)
		}
		var conf struct {
			IPAM struct{ Type, DataDir string }
		}
		if err := json.Unmarshal(p.Bytes, &conf); err == nil && conf.IPAM.Type == "host-local" {
			if conf.IPAM.DataDir == "" {
				conf.IPAM.DataDir = hostLocalDir
			}
			c.dataDirs = append(c.dataDirs, conf.IPAM.DataDir)
		}
	}
	for _, name := range c.types {
		if _, err := invoke.FindInPath(name, c.Path); err != nil {
			return nil, lab.Cannot("plugin %s of %s is not in %s: name its folder with --cni-path or CNI_PATH", name, file, strings.Join(c.Path, ":"))
		}
	}
	return c, nil
}

// list is the configuration on a node with these pod CIDRs; a name takes the place of its own where it is set.
func (c *Chain) list(name string, cidrs []netip.Prefix) (*libcni.NetworkConfigList, error) {
	var s said
	for _, p := range cidrs {
		s.PodCIDRRanges = append(s.PodCIDRRanges, p.String())
		s.PodCIDR = s.PodCIDRRanges[0]
		if p.Addr().Is6() {
			s.Routes = append(s.Routes, "::/0")
		} else {
			s.Routes = append(s.Routes, "0.0.0.0/0")
		}
	}
	var text bytes.Buffer
	if err := c.text.Execute(&text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	raw := map[string]any{}
	if err := json.Unmarshal(text.Bytes(), &raw); err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	if _, chained := raw["plugins"]; !chained { // a .conf of one plugin
		raw = map[string]any{"cniVersion": raw["cniVersion"], "name": raw["name"], "plugins": []any{raw}}
	}
	if name != "" {
		raw["name"] = name
	}
	whole, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	list, err := libcni.NetworkConfFromBytes(whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return list, nil
}

// routed reports whether nodes have ranges of their own, so that there is something to route between them.
func (c *Chain) routed() bool { return strings.Contains(c.text.Root.String(), ".PodCIDR") }

// DefaultPath is where plugins are looked for unless it is said: CNI_PATH, or where distributions put them.
func DefaultPath() string {
	if set := os.Getenv("CNI_PATH"); set != "" {
		return set
	}
	return "/opt/cni/bin"
}

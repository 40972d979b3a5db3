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
	// dataDirs are where its host-local keeps its book, whereabouts that it keeps one in the cluster's API server.
	dataDirs    []string
	whereabouts bool
	// ranges are whereabouts' in their order: a pod has an address of each.
	ranges []netip.Prefix
	// dhcp is the path of its plugin dhcp, whose daemon runs on each node; empty without.
	dhcp string
}

// said is what a configuration may say of its node: the words of containerd's conf_template.
type said struct {
	PodCIDR       string
	PodCIDRRanges []string
	Routes        []string
	// Kubeconfig is ours: the file by which a plugin on the node reaches the cluster's API server.
	Kubeconfig string
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
			IPAM struct {
				Type, DataDir, Range string
				IPRanges             []struct{ Range string }
			}
		}
		if json.Unmarshal(p.Bytes, &conf) != nil {
			continue // of another shape: its book is not known
		}
		switch conf.IPAM.Type {
		case "host-local":
			if conf.IPAM.DataDir == "" {
				conf.IPAM.DataDir = hostLocalDir
			}
			c.dataDirs = append(c.dataDirs, conf.IPAM.DataDir)
		case "whereabouts":
			c.whereabouts = true
			if conf.IPAM.Range != "" {
				c.ranges = append(c.ranges, rangeOf(conf.IPAM.Range))
			}
			for _, r := range conf.IPAM.IPRanges {
				c.ranges = append(c.ranges, rangeOf(r.Range))
			}
		}
	}
	for _, name := range c.types {
		path, err := invoke.FindInPath(name, c.Path)
		if name == "dhcp" {
			c.dhcp = path
		}
		if err != nil {
			return nil, lab.Cannot("plugin %s of %s is not in %s: name its folder with --cni-path or CNI_PATH", name, file, strings.Join(c.Path, ":"))
		}
	}
	return c, nil
}

// rangeOf reads a range as whereabouts writes it, PREFIX or FIRST-PREFIX; the zero Prefix is of no address.
func rangeOf(text string) netip.Prefix {
	if _, last, cut := strings.Cut(text, "-"); cut {
		text = last
	}
	p, _ := netip.ParsePrefix(text) // the plugin refuses what is none
	return p.Masked()
}

// list is the configuration on a node with these pod CIDRs; a name takes the place of its own where it is set.
func (c *Chain) list(name string, cidrs []netip.Prefix) (*libcni.NetworkConfigList, error) {
	s := said{Kubeconfig: kubeconfigAt}
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
	toServer(raw)
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

// toServer has each whereabouts of a configuration ask this cluster's API server, whatever its installer has it ask.
func toServer(raw map[string]any) {
	plugins, _ := raw["plugins"].([]any)
	for _, p := range plugins {
		conf, _ := p.(map[string]any)
		if ipam, _ := conf["ipam"].(map[string]any); ipam["type"] == "whereabouts" {
			ipam["configuration_path"] = whereaboutsAt
			ipam["kubernetes"] = map[string]any{"kubeconfig": kubeconfigAt}
		}
	}
}

// routed reports whether nodes have ranges of their own, so that there is something to route between them.
func (c *Chain) routed() bool { return strings.Contains(c.text.Root.String(), ".PodCIDR") }

// asks reports whether its plugins ask the cluster's API server.
func (c *Chain) asks() bool {
	return c.whereabouts || strings.Contains(c.text.Root.String(), ".Kubeconfig")
}

// booked reports whether what its IPAM has given can be read.
func (c *Chain) booked() bool { return len(c.dataDirs) > 0 || c.whereabouts }

// awaits says what a chain that does not answer may be waiting for; "" where nothing is known of it.
func (c *Chain) awaits() string {
	if c.dhcp == "" {
		return ""
	}
	return fmt.Sprintf(": dhcp waits for a server, which link %s alone leads to (\"master\": \"%[1]s\")", lab.NICDevice)
}

// DefaultPath is where plugins are looked for unless it is said: CNI_PATH, or where distributions put them.
func DefaultPath() string {
	if set := os.Getenv("CNI_PATH"); set != "" {
		return set
	}
	return "/opt/cni/bin"
}

package vm

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// wanted are the modules of a machine, by what needs them. Those that a kernel has built in need no file.
var wanted = []struct {
	names string
	why   string
	// optional ones are passed over where a kernel lacks them.
	optional bool
}{
	{"virtio_pci virtio_console", "the machine's ports", false},
	{"9p 9pnet_virtio overlay", "this machine's files", false},
	{"tun vhost_net", "VPP's taps", false},
	{"veth bridge macvlan dummy", "labs' links", false},
	{"sch_netem", "late and lossy wires", false},
	{"crc32c_generic", "checksums of SCTP and filters, by an alias that no module names", true},
	{"8021q sctp", "VLANs and SCTP", true},
	{"vxlan geneve ipvlan ifb vrf", "CNI plugins' links", true},
	{"br_netfilter ip_tables iptable_nat iptable_filter iptable_mangle iptable_raw ip6_tables ip6table_nat ip6table_filter ip6table_mangle ip6table_raw " +
		"nf_tables nft_compat nft_chain_nat nft_masq nft_ct nft_fib_inet nft_reject_inet nft_limit ip_set ip_set_hash_net xt_set xt_comment xt_multiport " +
		"xt_mark xt_conntrack xt_addrtype xt_statistic xt_MASQUERADE xt_nat xt_tcpudp xt_physdev", "CNI plugins' filters", true},
}

// moduleSuffix is that of modules that are not compressed, as Debian 12 has them.
const moduleSuffix = ".ko"

// moduleSet are the modules of a kernel by name, underscores for dashes, as the kernel itself takes both for one.
type moduleSet struct {
	files   map[string]string
	builtin map[string]bool
}

func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), moduleSuffix)
	return strings.ReplaceAll(name, "-", "_")
}

// readModules lists the modules in a folder as /lib/modules/RELEASE.
func readModules(dir string) (moduleSet, error) {
	s := moduleSet{files: map[string]string{}, builtin: map[string]bool{}}
	err := filepath.WalkDir(filepath.Join(dir, "kernel"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(d.Name(), moduleSuffix) {
			s.files[moduleName(path)] = path
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("read modules: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil {
		return s, fmt.Errorf("read modules: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		s.builtin[moduleName(strings.TrimSpace(line))] = true
	}
	return s, nil
}

// Module is one to be loaded.
type Module struct {
	// File is its path outside, its name in modulesFolder inside.
	File string `json:"file"`
	// Optional: a machine does without it, where the kernel refuses it.
	Optional bool `json:"optional,omitempty"`
}

// loadOrder lists the wanted modules, each after those that it depends on.
func loadOrder(dir string) ([]Module, error) {
	s, err := readModules(dir)
	if err != nil {
		return nil, err
	}
	var order []Module
	seen := map[string]bool{}
	for _, w := range wanted {
		for _, name := range strings.Fields(w.names) {
			_, there := s.files[name]
			if !there && !s.builtin[name] {
				if w.optional {
					continue
				}
				return nil, fmt.Errorf("no module %s, for %s", name, w.why)
			}
			if order, err = s.add(order, seen, name, w.optional); err != nil {
				return nil, err
			}
		}
	}
	return order, nil
}

// add appends a module behind those that it depends on. seen ends a circle, which no kernel has.
func (s moduleSet) add(order []Module, seen map[string]bool, name string, optional bool) ([]Module, error) {
	file, there := s.files[name]
	if !there || seen[name] {
		return order, nil
	}
	seen[name] = true
	needs, err := dependencies(file)
	if err != nil {
		return nil, err
	}
	for _, need := range needs {
		if _, there := s.files[need]; !there && !s.builtin[need] {
			return nil, fmt.Errorf("module %s needs %s, which is missing", name, need)
		}
		if order, err = s.add(order, seen, need, optional); err != nil {
			return nil, err
		}
	}
	return append(order, Module{file, optional}), nil
}

// errCompressed is a module that has to be unpacked first, which this package cannot.
var errCompressed = errors.New("compressed modules are not supported; Debian 12's linux-image-amd64 has plain ones")

// dependencies reads the names behind depends= in a module's section .modinfo, "key=value" texts that end with a zero
// byte each (Linux, include/linux/module.h, MODULE_INFO).
func dependencies(file string) ([]string, error) {
	if !strings.HasSuffix(file, moduleSuffix) {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), errCompressed)
	}
	f, err := elf.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read module %s: %w", filepath.Base(file), err)
	}
	defer func() { _ = f.Close() }() // read only
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("read module %s: no section .modinfo", filepath.Base(file))
	}
	text, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("read module %s: %w", filepath.Base(file), err)
	}
	return dependsOf(text), nil
}

func dependsOf(modinfo []byte) (needs []string) {
	for text := range bytes.SplitSeq(modinfo, []byte{0}) {
		if list, ok := strings.CutPrefix(string(text), "depends="); ok && list != "" {
			for name := range strings.SplitSeq(list, ",") {
				needs = append(needs, strings.ReplaceAll(name, "-", "_"))
			}
		}
	}
	return needs
}

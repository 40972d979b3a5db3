package lab

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// PodFile is what a lab's folder tells of one pod, for commands that come without its owner: exec, capture, a kept lab.
type PodFile struct {
	Node, Name string
	// Netns is the path by which this machine opens the pod's namespace.
	Netns string
	Addr  netip.Addr
	// ContainerID is the sandbox's.
	ContainerID string
}

// podsFolder is below a node's folder.
const podsFolder = "pods"

// notePod writes a pod down; forgetPod takes away what a sandbox was written down as. Neither matters to the lab
// itself.
func (n *node) notePod(name string, s *sandbox) {
	dir := filepath.Join(n.dir, podsFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return
	}
	text := fmt.Sprintf("%s %s %s\n", n.machine.Netns(s.netns), s.addr, s.owner.ContainerID)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		n.w.Record.Note("note of pod " + name + ": " + err.Error())
	}
}

func (n *node) forgetPod(name string, s *sandbox) {
	file := filepath.Join(n.dir, podsFolder, name)
	if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), s.owner.ContainerID) {
		_ = os.Remove(file) // somebody may look at it
	}
}

// parsePodFile reads what notePod wrote.
func parsePodFile(node, name, text string) (PodFile, error) {
	f := strings.Fields(text)
	if len(f) != 3 || !filepath.IsAbs(f[0]) {
		return PodFile{}, fmt.Errorf("pod %s: %q is not a namespace, an address and a container", name, strings.TrimSpace(text))
	}
	a, err := netip.ParseAddr(f[1])
	if err != nil {
		return PodFile{}, fmt.Errorf("pod %s: %w", name, err)
	}
	return PodFile{Node: node, Name: name, Netns: f[0], Addr: a, ContainerID: f[2]}, nil
}

// NodeFolder is one node as a lab's folder tells of it.
type NodeFolder struct {
	Name, Dir string
	// Netns is the path of its namespace.
	Netns string
	Pods  []PodFile
}

// Number is the machine's number in its lab.
func (f NodeFolder) Number() uint32 {
	n, err := strconv.ParseUint(filepath.Base(f.Dir), 10, 32)
	if err != nil {
		return 0 // no folder of a node's
	}
	return uint32(n)
}

// VPPDir has the node's VPP.
func (f NodeFolder) VPPDir() string { return filepath.Join(f.Dir, "vpp") }

// Nodes lists the nodes in a lab's folder, oldest first; of two of one name only the younger one, which replaced the
// other. netns tells the path of a node's namespace.
func (h StateDir) Nodes(netns func(id, node string) string) ([]NodeFolder, error) {
	dirs, err := filepath.Glob(filepath.Join(h.dir, "nodes", "*"))
	if err != nil {
		return nil, err
	}
	sortNumbered(dirs)
	var out []NodeFolder
	for _, dir := range dirs {
		name, err := os.ReadFile(filepath.Join(dir, "name"))
		if err != nil {
			continue // it is being made
		}
		f := NodeFolder{Name: strings.TrimSpace(string(name)), Dir: dir}
		f.Netns = netns(h.ID, f.Name)
		if _, err := os.Stat(f.Netns); err != nil {
			continue // off, or gone
		}
		out = dropNamed(out, f.Name)
		pods, err := os.ReadDir(filepath.Join(dir, podsFolder))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, p := range pods {
			text, err := os.ReadFile(filepath.Join(dir, podsFolder, p.Name()))
			if err != nil {
				continue
			}
			if pod, err := parsePodFile(f.Name, p.Name(), string(text)); err == nil {
				f.Pods = append(f.Pods, pod)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func dropNamed(list []NodeFolder, name string) []NodeFolder {
	for i := range list {
		if list[i].Name == name {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// sortNumbered sorts paths whose last elements are numbers by those.
func sortNumbered(dirs []string) {
	slices.SortFunc(dirs, func(a, b string) int {
		return fact.CompareNames(filepath.Base(a), filepath.Base(b))
	})
}

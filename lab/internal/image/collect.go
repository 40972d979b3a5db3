package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// Source is what to pack.
type Source struct {
	// VPP is the path of VPP's binary; what else VPP needs is found from there.
	VPP string
	// Program is the path of the program that is to be the nodes' first process and agent; it goes to ProgramPath.
	Program     string
	ProgramPath string
}

// Contents is the file system of an image.
type Contents struct {
	// Files are paths in the image with those on this machine; Links are symbolic links with their targets.
	Files map[string]string
	Links map[string]string
	// Texts are files that are written here.
	Texts map[string]string
	// Plugins are VPP's plugins' file names, sorted; Libraries the shared libraries with the loader.
	Plugins, Libraries []string
	Missing            []Missing
}

// applets are the commands of a shell that people who enter a node miss first.
var applets = []string{"sh", "cat", "grep", "ip", "kill", "ls", "mount", "nc", "ping", "ps", "sleep", "tail", "top", "vi"}

// loaderCache is where the loader looks first; what it names and the image has not is passed over.
const loaderCache = "/etc/ld.so.cache"

// Collect finds everything that a node needs on this machine.
func Collect(ctx context.Context, s Source) (*Contents, error) {
	c := &Contents{Files: map[string]string{}, Links: map[string]string{}, Texts: map[string]string{
		"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
		"/etc/group":  "root:x:0:\nvpp:x:999:\n",
	}}
	loader, _, err := interpreter(s.VPP)
	if err != nil {
		return nil, fmt.Errorf("pack VPP: %w", err)
	}
	dynamic := []string{s.VPP, s.Program}
	c.Files[s.VPP], c.Files[s.ProgramPath] = s.VPP, s.Program
	if vppctl := filepath.Join(filepath.Dir(s.VPP), "vppctl"); exists(vppctl) {
		dynamic = append(dynamic, vppctl)
		c.Files[vppctl] = vppctl
		if at := "/usr/bin/vppctl"; at != vppctl {
			c.Links[at] = vppctl
		}
	}
	folder := vppproc.PluginFolder(s.VPP)
	if folder == "" {
		return nil, fmt.Errorf("pack VPP: no plugins beside %s", s.VPP)
	}
	plugins, err := filepath.Glob(filepath.Join(folder, "*.so"))
	if err != nil {
		return nil, fmt.Errorf("pack VPP: %w", err)
	}
	for _, p := range plugins {
		c.Files[p] = p
		c.Plugins = append(c.Plugins, filepath.Base(p))
	}
	slices.Sort(c.Plugins)
	if busybox, err := exec.LookPath("busybox"); err == nil {
		c.Files["/bin/busybox"] = busybox
		dynamic = append(dynamic, busybox)
		for _, a := range applets {
			c.Links["/bin/"+a] = "busybox"
		}
	}
	if c.Libraries, c.Missing, err = closure(ctx, append(dynamic, plugins...), loader); err != nil {
		return nil, fmt.Errorf("pack VPP: %w", err)
	}
	for _, l := range c.Libraries {
		c.Files[l] = l
	}
	if exists(loaderCache) {
		c.Files[loaderCache] = loaderCache
	}
	return c, nil
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

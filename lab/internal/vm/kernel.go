package vm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/lab"
)

// KernelEnvironment is the variable that names the folder of a kernel: an unpacked package, or / for this machine's.
const KernelEnvironment = "VPPDRILL_VM_KERNEL"

// KernelFix gets a kernel and QEMU on Debian and Ubuntu.
const KernelFix = "apt-get install qemu-system-x86 linux-image-amd64"

// unpackFix gets a kernel where nothing may be installed: 70 MB to load, 400 MB unpacked.
const unpackFix = "apt-get download $(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \\(linux-image[^ ]*\\).*/\\1/p') && " +
	"dpkg-deb -x linux-image-*.deb kernel && export " + KernelEnvironment + "=$PWD/kernel"

// Kernel is one that a machine can have.
type Kernel struct {
	// Image is the file that QEMU loads, Modules the folder of its modules.
	Image, Modules string
	// Release is the version as uname says it, for example 6.1.0-56-amd64.
	Release string
	// load are the modules that a machine needs, in the order of loading.
	load []Module
}

// FindKernel returns the newest kernel of a folder that has the modules of a machine. The folder is explicit, else
// KernelEnvironment's, else the root. Errors are of one line, say what to do and are lab.ErrCannotRun.
func FindKernel(explicit string) (Kernel, error) {
	root, named := "/", false
	for _, dir := range []string{os.Getenv(KernelEnvironment), explicit} {
		if dir != "" {
			root, named = dir, true
		}
	}
	if runtime.GOARCH != "amd64" {
		return Kernel{}, lab.Cannot("virtual machines are made on amd64, this is %s", runtime.GOARCH)
	}
	images, _ := fs.Glob(os.DirFS(root), "boot/vmlinuz-*") // a folder that cannot be read has none
	slices.SortFunc(images, func(a, b string) int { return compareReleases(b, a) })
	var first error
	for _, image := range images {
		k, err := kernelOf(root, filepath.Join(root, image))
		if err == nil {
			return k, nil
		}
		if first == nil {
			first = err
		}
	}
	switch {
	case first != nil:
		return Kernel{}, first
	case named:
		return Kernel{}, lab.Cannot("no kernel in %s: boot/vmlinuz-* and lib/modules of a package linux-image are wanted there; `%s`", root, unpackFix)
	}
	return Kernel{}, lab.Cannot("no kernel for a virtual machine in /boot; `%s`, or without root `%s`", KernelFix, unpackFix)
}

// kernelOf is the kernel of one image, with its modules in order.
func kernelOf(root, image string) (Kernel, error) {
	k := Kernel{Image: image, Release: strings.TrimPrefix(filepath.Base(image), "vmlinuz-")}
	if f, err := os.Open(image); err != nil {
		return k, lab.Cannot("kernel %s: %s", image, reason(err)) // Ubuntu's are root's alone
	} else {
		_ = f.Close() // nothing was written
	}
	for _, lib := range []string{"lib", "usr/lib"} {
		dir := filepath.Join(root, lib, "modules", k.Release)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			k.Modules = dir
			break
		}
	}
	if k.Modules == "" {
		return k, lab.Cannot("kernel %s has no modules in %s", k.Release, filepath.Join(root, "lib", "modules", k.Release))
	}
	var err error
	k.load, err = loadOrder(k.Modules)
	if err != nil {
		return k, lab.Cannot("kernel %s: %s", k.Release, err)
	}
	return k, nil
}

// compareReleases orders names by their numbers, so that 6.10 comes after 6.9.
func compareReleases(a, b string) int {
	x, y := releaseParts(a), releaseParts(b)
	for i := range min(len(x), len(y)) {
		n, m := x[i], y[i]
		if isNumber(n) && isNumber(m) && len(n) != len(m) {
			return len(n) - len(m)
		}
		if c := strings.Compare(n, m); c != 0 {
			return c
		}
	}
	return len(x) - len(y)
}

// releaseParts cuts a name into numbers and what is between them.
func releaseParts(s string) (parts []string) {
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return isDigit(r) != isDigit(rune(s[0])) })
		if n < 0 {
			n = len(s)
		}
		parts, s = append(parts, s[:n]), s[n:]
	}
	return parts
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isNumber(s string) bool { return s != "" && isDigit(rune(s[0])) }

// reason is an error without the path that the line has already.
func reason(err error) string {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// String is the kernel for people.
func (k Kernel) String() string { return fmt.Sprintf("kernel %s", k.Release) }

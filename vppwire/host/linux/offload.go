package linux

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of SIOCETHTOOL and what they switch (include/uapi/linux/ethtool.h). The kernel turns scatter-gather off by
// itself where checksums are.
var offloads = [...]struct {
	get, set uint32
	what     string
}{
	{0x16, 0x17, "TX checksum"},
	{0x1e, 0x1f, "TCP segmentation"},
	{0x23, 0x24, "generic segmentation"},
}

// ethtoolValue is struct ethtool_value.
type ethtoolValue struct{ cmd, data uint32 }

// ifreqData is struct ifreq with a pointer.
type ifreqData struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// setOffload switches TX checksum and segmentation offload of a link.
func (p *place) setOffload(name string, on bool) error {
	return p.ethtool(func(fd int) error {
		for _, o := range offloads {
			v := ethtoolValue{cmd: o.set}
			if on {
				v.data = 1
			}
			if err := ioctl(fd, name, &v); err != nil {
				return about(err, "link %s in %s: %s offload", name, p, o.what)
			}
		}
		return nil
	})
}

// offloadOff reports of each link whether all of it is off. A link that went meanwhile, or has no such switch, is
// false.
func (p *place) offloadOff(names []string) (map[string]bool, error) {
	off := make(map[string]bool, len(names))
	err := p.ethtool(func(fd int) error {
		for _, name := range names {
			all := true
			for _, o := range offloads {
				v := ethtoolValue{cmd: o.get}
				if err := ioctl(fd, name, &v); err != nil || v.data != 0 {
					all = false
					break
				}
			}
			off[name] = all
		}
		return nil
	})
	return off, err
}

// ethtool gives do a socket of the namespace; one socket is enough, whatever thread it is used on.
func (p *place) ethtool(do func(fd int) error) error {
	fd := -1
	err := p.within(func() (err error) {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("socket in %s: %w", p, err)
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written to it
	return do(fd)
}

func ioctl(fd int, name string, v *ethtoolValue) error {
	req := ifreqData{data: unsafe.Pointer(v)}
	copy(req.name[:unix.IFNAMSIZ-1], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return errno
	}
	return nil
}

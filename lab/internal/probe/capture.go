package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// snapLength keeps whole packets of any MTU.
const snapLength = 65535

// Capture writes what passes a Linux link as pcapng until ctx ends or count packets have passed (0: no bound), and
// returns how many they were. ready, where not nil, is called when nothing passes unseen any more.
func Capture(ctx context.Context, netns, link, comment string, out io.Writer, count int, ready func()) (int, error) {
	return capturePicked(ctx, netns, link, link, comment, out, count, ready, func(frame []byte) []byte { return frame })
}

// capturePicked is Capture of what pick makes of each frame, nil for nothing, under another name.
func capturePicked(ctx context.Context, netns, link, name, comment string, out io.Writer, count int, ready func(), pick func([]byte) []byte) (int, error) {
	var f *os.File
	if err := spawn.Inside(netns, func() (err error) {
		f, err = packetSocket(link)
		return err
	}); err != nil {
		return 0, fmt.Errorf("capture on %s: %w", link, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = f.Close() }) // ends the read
	defer func() { stop(); _ = f.Close() }()                 // perhaps for the second time
	w, err := newCapture(out, name, comment)
	if err != nil {
		return 0, err
	}
	if ready != nil {
		ready()
	}
	n := 0
	for buffer := make([]byte, snapLength); count == 0 || n < count; {
		size, err := f.Read(buffer)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return n, errors.Join(fmt.Errorf("capture on %s: %w", link, err), w.Flush())
		}
		frame := pick(buffer[:size])
		if frame == nil {
			continue
		}
		if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Now(), CaptureLength: len(frame), Length: len(frame)}, frame); err != nil {
			return n, err
		}
		n++
		// Whoever looks on, or kills us, has what has passed so far.
		if err := w.Flush(); err != nil {
			return n, err
		}
	}
	return n, w.Flush()
}

// packetSocket sees every frame that passes a link of this thread's namespace, in either direction.
func packetSocket(link string) (*os.File, error) {
	l, err := net.InterfaceByName(link)
	if err != nil {
		return nil, err
	}
	every := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, int(every))
	if err != nil {
		return nil, err
	}
	err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: every, Ifindex: l.Index})
	if err == nil {
		err = unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
			&unix.PacketMreq{Ifindex: int32(l.Index), Type: unix.PACKET_MR_PROMISC})
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), link), nil
}

// newCapture starts a pcapng of one Ethernet interface.
func newCapture(out io.Writer, link, comment string) (*pcapgo.NgWriter, error) {
	return pcapgo.NewNgWriterInterface(out, pcapgo.NgInterface{Name: link, Comment: comment, LinkType: layers.LinkTypeEthernet,
		SnapLength: snapLength, TimestampResolution: 9}, pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "vppdrill"}})
}

// CLI runs a command of one VPP's command line.
type CLI func(ctx context.Context, command string) (string, error)

// CaptureVPP writes what passes an interface inside VPP, one that Linux does not see, as pcapng: VPP collects at most
// count packets until ctx ends, then they are written. root is the root folder of VPP's process, which may be a
// container's; name tells its file from those of other captures; sides are some of rx, tx and drop.
func CaptureVPP(ctx context.Context, cli CLI, iface, comment, root, name string, sides []string, out io.Writer, count int, ready func()) (int, error) {
	if count <= 0 {
		count = 100_000
	}
	// VPP writes below /tmp and takes no folder (25.10, src/vnet/interface_cli.c), so the name says whose it is.
	name = fmt.Sprintf("vppdrill-%d-%s.pcap", os.Getpid(), name)
	file := filepath.Join(root, "tmp", name) // whatever TMPDIR says: it is VPP that writes
	defer func() { _ = os.Remove(file) }()   // it may never have been made
	command := fmt.Sprintf("pcap trace %s max %d intfc %s file %s", strings.Join(sides, " "), count, iface, name)
	if text, err := cli(ctx, command); err != nil {
		return 0, fmt.Errorf("capture on %s: %w", iface, err)
	} else if strings.Contains(text, "unknown") || strings.Contains(text, "already") {
		return 0, fmt.Errorf("capture on %s: %s", iface, text)
	}
	if ready != nil {
		ready()
	}
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if text, err := cli(last, "pcap trace off"); err != nil && !strings.Contains(text+err.Error(), "No packets captured") {
		return 0, fmt.Errorf("capture on %s: %w", iface, err)
	}
	in, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		in, err = nil, nil // nothing passed
	}
	if err != nil {
		return 0, err
	}
	w, err := newCapture(out, iface, comment)
	if err != nil || in == nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // read only
	return convert(in, w)
}

// convert copies a pcap's packets.
func convert(in io.Reader, w *pcapgo.NgWriter) (int, error) {
	r, err := pcapgo.NewReader(in)
	if err != nil {
		return 0, err
	}
	for n := 0; ; n++ {
		data, info, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return n, w.Flush()
		}
		if err != nil {
			return n, errors.Join(err, w.Flush())
		}
		if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: info.Timestamp, CaptureLength: len(data), Length: info.Length}, data); err != nil {
			return n, err
		}
	}
}

//go:build linux && (amd64 || arm64)

package gateway_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// costTracer counts the system calls of a process by name and by what they are about, as the kernel
// tells of them (ptrace). /proc/PID/io has reads and writes alone, and not of what; perf needs rights that tests
// do not have, and strace is one more program to be there.
//
// A traced process stops at each call, and is slower. That changes how often its threads sleep and are
// woken, which costLoose has, and not what it reads and writes.
type costTracer struct {
	ended chan struct{}

	mu     sync.Mutex
	why    syscall.Errno // it knows nothing
	counts map[string]int
	last   time.Time // of a call that is counted exactly
	port   string    // of the gateway's listener, as /proc writes it
	peers  map[string]string

	poller uint64 // the runtime's epoll, which is the process's first
}

// costLoose are calls of the runtime's: for a goroutine to be run, by which thread, and for
// memory. How many there are is a matter of chance. So is when the log is written, which gathers lines, and
// the pipe by which overload measures how long work waits for a processor.
var costLoose = map[string]bool{
	"futex": true, "nanosleep": true, "clock_nanosleep": true, "sched_yield": true, "epoll_pwait": true, "epoll_pwait, nothing": true,
	"write wakeup": true, "read wakeup": true, "read wakeup, nothing": true, "write log": true,
	"write pipe": true, "read pipe": true, "read pipe, nothing": true,
	"mmap": true, "munmap": true, "madvise": true, "clone": true, "clone3": true, "gettid": true, "getpid": true, "tgkill": true,
	"rt_sigreturn": true, "rt_sigprocmask": true, "sigaltstack": true, "set_robust_list": true, "restart_syscall": true, "prctl": true,
}

var costNames = map[uint64]string{
	syscall.SYS_READ: "read", syscall.SYS_WRITE: "write", syscall.SYS_READV: "readv", syscall.SYS_WRITEV: "writev",
	syscall.SYS_PREAD64: "pread64", syscall.SYS_PWRITE64: "pwrite64", syscall.SYS_RECVFROM: "recvfrom", syscall.SYS_SENDTO: "sendto",
	syscall.SYS_RECVMSG: "recvmsg", syscall.SYS_SENDMSG: "sendmsg", syscall.SYS_EPOLL_CTL: "epoll_ctl", syscall.SYS_EPOLL_PWAIT: "epoll_pwait",
	syscall.SYS_SETSOCKOPT: "setsockopt", syscall.SYS_GETSOCKOPT: "getsockopt", syscall.SYS_SOCKET: "socket", syscall.SYS_CONNECT: "connect",
	syscall.SYS_ACCEPT4: "accept4", syscall.SYS_CLOSE: "close", syscall.SYS_SHUTDOWN: "shutdown", syscall.SYS_FSYNC: "fsync",
	syscall.SYS_FDATASYNC: "fdatasync", syscall.SYS_OPENAT: "openat", syscall.SYS_FTRUNCATE: "ftruncate", syscall.SYS_FUTEX: "futex",
	syscall.SYS_NANOSLEEP: "nanosleep", syscall.SYS_CLOCK_NANOSLEEP: "clock_nanosleep", syscall.SYS_SCHED_YIELD: "sched_yield",
	syscall.SYS_MADVISE: "madvise", syscall.SYS_MMAP: "mmap", syscall.SYS_MUNMAP: "munmap", syscall.SYS_TGKILL: "tgkill",
	syscall.SYS_GETPID: "getpid", syscall.SYS_RT_SIGRETURN: "rt_sigreturn", syscall.SYS_RT_SIGPROCMASK: "rt_sigprocmask",
	syscall.SYS_SIGALTSTACK: "sigaltstack", syscall.SYS_GETTID: "gettid", syscall.SYS_CLONE: "clone", 435: "clone3",
	syscall.SYS_SET_ROBUST_LIST: "set_robust_list", syscall.SYS_RESTART_SYSCALL: "restart_syscall", syscall.SYS_PRCTL: "prctl",
	syscall.SYS_FCNTL: "fcntl",
}

// From include/uapi/linux/ptrace.h and wait.h; package syscall does not have them all.
const (
	ptraceExitKill       = 0x100000
	ptraceGetSyscallInfo = 0x420e
	ptraceEntry          = 1
	ptraceExit           = 2
	waitAll              = 0x40000000 // threads too
	waitNoThread         = 0x20000000 // and none of who is no child of this thread
)

// ptraceInfo is struct ptrace_syscall_info.
type ptraceInfo struct {
	op    uint8
	_     [23]byte  // architecture, instruction and stack
	first uint64    // the number, or what was returned
	args  [6]uint64 // of the call; after it the first byte says whether that is an error
}

// start begins the command, and traces it until it ends. All of that is one thread's to do.
func (c *costTracer) start(cmd *exec.Cmd) error {
	c.ended, c.counts, c.peers = make(chan struct{}), map[string]int{}, map[string]string{}
	begun := make(chan error)
	go func() {
		defer close(c.ended)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		err := cmd.Start()
		if err == nil {
			err = c.attach(cmd.Process.Pid)
		}
		begun <- err
		if err == nil {
			c.follow(cmd.Process.Pid)
		}
	}()
	return <-begun
}

// end waits for the process's end. The tracer has reaped it.
func (c *costTracer) end(cmd *exec.Cmd) {
	<-c.ended
	_ = cmd.Process.Release()
}

// blind says why nothing is known of system calls; 0 where it is.
func (c *costTracer) blind() syscall.Errno {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// attach has the process, which stops before its first instruction, stop at system calls.
func (c *costTracer) attach(pid int) error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, waitAll, nil); err != nil {
		return err
	}
	if !status.Stopped() {
		return errors.New("the process does not stop")
	}
	err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|ptraceExitKill)
	if err == nil {
		err = syscall.PtraceSyscall(pid, 0)
	}
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return fmt.Errorf("ptrace: %w", err)
	}
	return nil
}

// follow lets threads go on from one stop to the next.
func (c *costTracer) follow(pid int) {
	pending := map[int]string{} // what each thread has called
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, waitAll|waitNoThread, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return // nobody is left
		case !status.Stopped():
			continue // a thread has ended
		}
		signal := 0
		switch s := status.StopSignal(); s {
		case syscall.SIGTRAP | 0x80:
			c.stopped(pid, tid, pending)
		case syscall.SIGTRAP, syscall.SIGSTOP: // a thread begins
		default:
			signal = int(s)
		}
		_ = syscall.PtraceSyscall(tid, signal)
	}
}

// stopped notes what a thread calls, and counts it when that is over.
func (c *costTracer) stopped(pid, tid int, pending map[int]string) {
	var info ptraceInfo
	_, _, e := syscall.Syscall6(syscall.SYS_PTRACE, ptraceGetSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0) //nolint:gosec // the kernel fills it
	if e != 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e != syscall.ESRCH { // killed meanwhile
			c.why = e
		}
		return
	}
	switch info.op {
	case ptraceEntry:
		pending[tid] = c.name(pid, &info)
	case ptraceExit:
		name := pending[tid]
		if name == "" {
			return // began before
		}
		failed := byte(info.args[0]) != 0
		if failed && -syscall.Errno(info.first) == syscall.EAGAIN || info.first == 0 && strings.HasPrefix(name, "epoll_pwait") {
			name += ", nothing"
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.counts[name]++; !costLoose[name] {
			c.last = time.Now()
		}
	}
}

// name is what a call is counted as: "read agent" for one of a connection to the agent.
func (c *costTracer) name(pid int, info *ptraceInfo) string {
	name, fd := costNames[info.first], info.args[0]
	if runtime.GOARCH == "amd64" && info.first == 232 { // epoll_wait, which arm64 has not
		name = "epoll_pwait"
	}
	switch name {
	case "":
		return fmt.Sprint("system call ", info.first)
	case "read", "write", "readv", "writev", "recvfrom", "sendto", "recvmsg", "sendmsg", "setsockopt", "getsockopt", "close", "fsync", "fdatasync", "accept4":
	case "epoll_ctl":
		fd = info.args[2]
		name += " " + map[uint64]string{1: "add", 2: "delete", 3: "modify"}[info.args[1]]
	case "epoll_pwait":
		if c.poller == 0 {
			c.poller = fd
		}
		if fd == c.poller {
			return name
		}
		return name + " netpoll" // our own package
	default:
		return name
	}
	return name + " " + c.about(pid, fd)
}

// about is what a descriptor is of.
func (c *costTracer) about(pid int, fd uint64) string {
	to, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "fd", strconv.FormatUint(fd, 10)))
	switch {
	case err != nil:
		return "nothing"
	case strings.HasSuffix(to, "[eventfd]"):
		return "wakeup" // of the thread that waits for sockets
	case strings.HasSuffix(to, "[eventpoll]"):
		return "epoll"
	case strings.HasPrefix(to, "pipe:"):
		return "pipe"
	case !strings.HasPrefix(to, "socket:"):
		name, _, _ := strings.Cut(filepath.Base(to), "-") // and a date
		return name
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.port == "" {
		return "socket"
	}
	if c.peers[to] == "" {
		c.peers[to] = c.side(pid, strings.Trim(to, "socket:[]"))
	}
	return c.peers[to]
}

// side is whose connection a socket is: that of the client, who has come to the listener's port, or
// the agent's.
func (c *costTracer) side(pid int, inode string) string {
	table, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "net/tcp"))
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 10 || f[9] != inode {
			continue
		}
		if strings.HasSuffix(f[1], ":"+c.port) {
			return "client"
		}
		return "agent"
	}
	return "socket"
}

// listens says where the gateway is.
func (c *costTracer) listens(url string) {
	port, err := strconv.Atoi(url[strings.LastIndex(url, ":")+1:])
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.port = fmt.Sprintf("%04X", port)
}

// costQuiet is for how long nothing is called before what has been called is that of one call or event.
const costQuiet = 8 * time.Millisecond

// settled is what has been called so far, when nothing more is.
func (c *costTracer) settled() map[string]int {
	for {
		c.mu.Lock()
		quiet := costQuiet - time.Since(c.last)
		counts := maps.Clone(c.counts)
		c.mu.Unlock()
		if quiet <= 0 {
			return counts
		}
		time.Sleep(quiet)
	}
}

package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
)

// live is wait. Should the tests die, the process dies with the thread that started it.
func (s *Server) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	s.wait(started)
}

// other is who runs the server if the tests run as root.
func other() (uid, gid int, err error) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, err
	}
	if uid, err = strconv.Atoi(u.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(u.Gid)
	return uid, gid, err
}

// own gives the directory to whoever runs the server.
func own(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := other()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// asOther has the command run by somebody who is not root.
func asOther(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := other()
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return err
}

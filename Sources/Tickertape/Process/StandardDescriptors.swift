import Glibc

/// Standard input, output and error, any of which the parent process may have closed (`>&-`).
enum StandardDescriptors {
    /// Opens the closed ones before any other file is opened. Otherwise such a file would get the number, and messages
    /// would be written to it.
    ///
    /// Each is opened in the unused direction, so that a read or a write still fails (EBADF).
    static func fill() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            guard fcntl(descriptor, F_GETFD) == -1, errno == EBADF else { continue }
            let flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
            // `open` returns the smallest free number. It is this one, since the smaller ones are open by now.
            if open("/dev/null", flags) == -1 { _ = open("/", O_RDONLY) }
        }
    }
}

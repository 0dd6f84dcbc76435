import Glibc

/// Standard input, output and error, which whoever started the program may have closed (`>&-`).
enum StandardDescriptors {
    /// Opens those that are closed, before anything else is opened: it would get their numbers, and be written what was meant
    /// for a person.
    ///
    /// In the direction that nobody uses, so that who writes or reads there is told that it is closed (EBADF).
    static func fill() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            guard fcntl(descriptor, F_GETFD) == -1, errno == EBADF else { continue }
            let flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
            // The smallest number that is free is this one, for those below it are open by now.
            if open("/dev/null", flags) == -1 { _ = open("/", O_RDONLY) }
        }
    }
}

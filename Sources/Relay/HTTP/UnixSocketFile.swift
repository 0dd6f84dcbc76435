import Glibc
import Platform

/// The file of a listening Unix socket: accessible to its owner alone, and removed with the socket.
struct UnixSocketFile: Sendable {
    /// The reason why a path cannot be used, as the end of a sentence that begins with the path, and the remedy.
    struct Failure: Error, Equatable {
        var reason: String
        /// Whether another program listens there.
        var isInUse = false
    }

    /// The most bytes of a path; the kernel's `sun_path` has one more byte (unix(7)).
    static let longestPath = 107

    let path: String
    /// A listening socket that does not block.
    let descriptor: Int32
    private let device: dev_t
    private let inode: ino_t
    /// The modification time of the new file. Its inode number may be given to another file later.
    private let made: timespec
    /// The queue for the calls that may block on the disk.
    private static let disk = WorkQueue("socket-file")

    /// Listens at a free path, or replaces the socket of a program that is gone. It works on a queue and is limited in
    /// time.
    static func make(listeningAt path: String) async throws(Failure) -> UnixSocketFile {
        let made = await Self.disk.answer {
            Result { () throws(Failure) in try UnixSocketFile(listeningAt: path) }
        }
        guard let made else { throw Failure(reason: "cannot be made: the disk does not answer") }
        return try made.get()
    }

    /// Does the same on the calling thread.
    ///
    /// It blocks briefly while another program does the same.
    init(listeningAt path: String) throws(Failure) {
        guard path.utf8.count <= Self.longestPath else {
            throw Failure(reason: "has \(path.utf8.count) bytes, and a socket's path may have \(Self.longestPath)")
        }
        guard !path.isEmpty, path.last != "/", !path.utf8.contains(0) else { throw Failure(reason: "is not a path") }
        let folder = try Self.checkedFolder(of: path)
        defer { close(folder) }
        // Only one program at a time checks whether a socket is dead, removes it and replaces it. If another one holds
        // the folder's lock for long, the check alone must suffice.
        for _ in 0..<50 where flock(folder, LOCK_EX | LOCK_NB) != 0 { usleep(10_000) }
        try Self.removeDeadSocket(path)
        self.path = path
        let descriptor = socket(
            AF_UNIX,
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            0
        )
        guard descriptor >= 0 else { throw Self.failure() }
        self.descriptor = descriptor
        var isDone = false
        defer { if !isDone { close(descriptor) } }
        // Before `bind` creates the file, which takes its mode from the socket: no other user can connect even for a
        // moment.
        guard fchmod(descriptor, 0o600) == 0 else { throw Self.failure() }
        guard Self.withAddress(of: path, { bind(descriptor, $0, $1) }) == 0 else {
            throw errno == EADDRINUSE ? Failure(reason: "exists already", isInUse: true) : Self.failure()
        }
        var status = stat()
        guard listen(descriptor, 1_024) == 0, lstat(path, &status) == 0 else {
            let failure = Self.failure()
            unlink(path)
            throw failure
        }
        (self.device, self.inode, self.made) = (status.st_dev, status.st_ino, status.st_mtim)
        isDone = true
    }

    /// Removes the file, unless another one has replaced it; does not wait for a disk that hangs.
    func removeElsewhere() async { _ = await Self.disk.answer(within: .milliseconds(500)) { self.remove() } }

    /// Does the same on the calling thread.
    func remove() {
        var status = stat()
        guard lstat(self.path, &status) == 0, status.st_dev == self.device, status.st_ino == self.inode,
            status.st_mtim.tv_sec == self.made.tv_sec, status.st_mtim.tv_nsec == self.made.tv_nsec
        else { return }
        unlink(self.path)
    }

    /// Opens the folder; throws unless only this user and root can replace the socket in it.
    private static func checkedFolder(of path: String) throws(Failure) -> Int32 {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(reason: "cannot be made in \(folder): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let failure = Self.failure()
            close(descriptor)
            throw failure
        }
        var reason: String?
        if status.st_uid != geteuid(), status.st_uid != 0 { reason = "is in a folder of another user (\(folder))" }
        // In a sticky folder such as /tmp, others can create files but not remove ours.
        if status.st_mode & 0o022 != 0, status.st_mode & S_ISVTX == 0 {
            reason = "is in a folder that others can write to (\(folder)); run chmod go-w \(folder)"
        }
        guard let reason else { return descriptor }
        close(descriptor)
        throw Failure(reason: reason)
    }

    /// Removes a socket without a listener.
    private static func removeDeadSocket(_ path: String) throws(Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure()
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw Failure(reason: "exists already, and is not a socket") }
        guard status.st_uid == geteuid() else { throw Failure(reason: "belongs to another user") }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw Self.failure() }
        defer { close(probe) }
        let result = Self.withAddress(of: path) { connect(probe, $0, $1) }
        // A full accept queue (EAGAIN) belongs to a listener as well; only a refused connection proves that there is
        // none.
        guard result != 0, errno == ECONNREFUSED else {
            throw Failure(reason: "is in use by another program", isInUse: true)
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw Self.failure() }
    }

    private static func withAddress(
        of path: String,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func failure() -> Failure { Failure(reason: String(cString: strerror(errno))) }
}

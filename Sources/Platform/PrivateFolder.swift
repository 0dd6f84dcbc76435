import Glibc

/// A folder that belongs to this user and to which no other user can write. Its methods may wait for the disk.
package struct PrivateFolder: Sendable {
    package let path: String
    private let disk: any SegmentDisk

    /// The reason why a folder or a file cannot be used, for a person.
    package struct Failure: Error {
        package var reason: String
    }

    /// Creates the folder and its parents if they are missing. Refuses a folder of another user, or one that others can
    /// write to.
    package init(_ path: String, disk: any SegmentDisk = SystemSegmentDisk()) throws(Failure) {
        self.path = path
        self.disk = disk
        if mkdir(path, 0o700) != 0, errno == ENOENT {
            try Self.makeFolders(above: path)
            _ = mkdir(path, 0o700)
        }
        var information = stat()
        guard lstat(path, &information) == 0 else {
            throw Failure(reason: "\(path): \(String(cString: strerror(errno)))")
        }
        guard information.st_mode & S_IFMT == S_IFDIR else { throw Failure(reason: "\(path) is not a folder") }
        guard information.st_uid == geteuid() else { throw Failure(reason: "\(path) belongs to another user") }
        guard information.st_mode & 0o022 == 0 else { throw Failure(reason: "others can write to \(path)") }
        guard access(path, W_OK | X_OK) == 0 else {
            throw Failure(reason: "\(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func makeFolders(above path: String) throws(Failure) {
        let parts = path.split(separator: "/").dropLast()
        var folder = path.hasPrefix("/") ? "" : "."
        for part in parts {
            folder += "/\(part)"
            if mkdir(folder, 0o700) != 0, errno != EEXIST {
                throw Failure(reason: "\(folder): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Reads the text of a small file.
    ///
    /// - Returns: `nil` if there is no such file.
    /// - Throws: ``Failure`` if it is not a regular file of this user, is larger than `limit` bytes, or cannot be read.
    package func read(_ name: String, limit: Int) throws(Failure) -> String? {
        let path = "\(self.path)/\(name)"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        return try Self.text(of: descriptor, limit: limit)
    }

    /// Returns what `parse` makes of a small file's text; `nil` without a file, and after a warning if it is unusable.
    package func load<Contents>(
        _ name: String,
        limit: Int,
        warn: (String) -> Void,
        _ parse: (String) -> Contents?
    ) -> Contents? {
        let reason: String
        do throws(Failure) {
            guard let text = try self.read(name, limit: limit) else { return nil }
            if let contents = parse(text) { return contents }
            reason = "it is damaged or of another version"
        } catch {
            reason = error.reason
        }
        warn("\(self.path)/\(name) cannot be used and is replaced: \(reason)")
        return nil
    }

    /// Reads the text of a small open file, under the same conditions as ``read(_:limit:)``.
    package static func text(of descriptor: Int32, limit: Int) throws(Failure) -> String {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw Failure(reason: "it is not a regular file")
        }
        guard information.st_uid == geteuid() else { throw Failure(reason: "it belongs to another user") }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + count, $0.count - count, count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw Failure(reason: String(cString: strerror(errno))) }
            if read == 0 { break }
            count += read
        }
        guard count <= limit else { throw Failure(reason: "it is too large") }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw Failure(reason: "it is not text")
        }
        return text
    }

    /// Replaces a file's text atomically: a reader finds the old text or the new one, even after a power cut.
    package func replace(_ name: String, with text: String) throws(Failure) {
        do throws(DurableFile.Failure) {
            try DurableFile.write(text, to: "\(self.path)/\(name)", disk: self.disk)
        } catch {
            throw Failure(reason: error.description)
        }
    }

    package func remove(_ name: String) { DurableFile.remove("\(self.path)/\(name)", disk: self.disk) }
}

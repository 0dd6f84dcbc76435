package import Platform

/// A store for the state of a backoff that outlives the program. Its methods may wait for a disk.
package protocol AttemptStore: Sendable {
    /// Returns what an earlier run saved, if anything.
    func load() -> SavedBackoff?
    func save(_ memory: SavedBackoff)
    func clear()
}

/// The state of a key's backoff as a file in the state directory, one for each key.
///
/// It never stops the program. A file that cannot be read is replaced, and without a writable file the program
/// continues without one; each case is warned about once.
package struct AttemptFile: AttemptStore {
    /// The largest file that is read, in bytes; ours are smaller.
    private static let limit = 4_096

    private let folder: PrivateFolder
    private let name: String
    private let readWarning: WarnOnce
    private let writeWarning: WarnOnce

    /// - Parameters:
    ///   - path: the state directory; created if it is missing.
    ///   - identity: the key whose attempts these are.
    ///   - warn: takes a warning of one line.
    /// - Returns: `nil` if the directory cannot be used, after a warning.
    package init?(
        directory path: String,
        identity: KeyIdentity,
        disk: any SegmentDisk = SystemSegmentDisk(),
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.readWarning = WarnOnce(warn)
        self.writeWarning = WarnOnce(warn)
        self.name = "\(identity.name).attempts"
        do throws(PrivateFolder.Failure) {
            self.folder = try PrivateFolder(path, disk: disk)
        } catch {
            self.writeWarning.notify("attempts are not remembered over a restart: \(error.reason) (state.directory)")
            return nil
        }
    }

    package func load() -> SavedBackoff? {
        self.folder.load(self.name, limit: Self.limit, warn: self.readWarning.notify) { SavedBackoff(text: $0) }
    }

    package func save(_ memory: SavedBackoff) {
        do throws(PrivateFolder.Failure) {
            try self.folder.replace(self.name, with: memory.text)
        } catch {
            self.writeWarning.notify("\(self.folder.path)/\(self.name) cannot be written: \(error.reason)")
        }
    }

    package func clear() { self.folder.remove(self.name) }
}

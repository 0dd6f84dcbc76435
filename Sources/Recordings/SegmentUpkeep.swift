import Glibc
package import Platform
import Wire

/// The compression and the removal of a recording's complete files.
///
/// Each step leaves the disk in a state from which the next start can continue: the compressed file is whole and synced
/// before it gets its name, and has its name before the original is removed. A name proves nothing: a file that does
/// not begin with a header of this program is a foreign one, and is left alone.
package struct SegmentUpkeep {
    private static let draftSuffix = ".part"

    private let names: SegmentNames
    private let source: String??
    private let disk: any SegmentDisk

    /// - Parameters:
    ///   - source: where the recording's frames come from; a file with another source belongs to another recording,
    ///     whatever its name. `nil` accepts any source.
    ///   - disk: performs the steps between which a power cut may come.
    package init(_ names: SegmentNames, source: String?? = nil, disk: any SegmentDisk = SystemSegmentDisk()) {
        self.names = names
        self.source = source
        self.disk = disk
    }

    // MARK: Ownership

    /// Returns the files with names like this recording's that do not belong to it.
    package func strangers() -> [String] {
        self.names.family().filter { $0.size > 0 && !self.isOurs($0.path) }.map(\.path)
    }

    private func isOurs(_ path: String) -> Bool {
        guard let file = try? DiskFile(reading: path, followsLinks: false) else { return false }
        return self.isOurs(file)
    }

    private func isOurs(_ file: DiskFile) -> Bool {
        // Every version of this program writes its name into the header.
        guard let header = (try? RecordingMap(file))?.header, header.program != nil else { return false }
        return self.source.map { $0 == header.source } ?? true
    }

    /// Locks a file of this recording; `nil` where a program still writes it, or it belongs to another recording. The
    /// lock is released with the returned value.
    private func lockComplete(_ path: String) -> DiskFile? {
        guard let file = try? DiskFile(reading: path, followsLinks: false),
            flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, self.isOurs(file)
        else { return nil }
        return file
    }

    // MARK: Compressing

    /// Compresses every complete file that is not compressed yet, the oldest first; returns the problems, one line
    /// each.
    ///
    /// - Parameter isCancelled: is called often.
    package func pack(isCancelled: () -> Bool = { false }) -> [String] {
        var problems: [String] = []
        for segment in self.names.family() where !segment.isPacked && !isCancelled() {
            guard let lock = self.lockComplete(segment.path) else { continue }
            do throws(RecordingFailure) {
                try self.pack(segment.path, isCancelled)
            } catch {
                if !isCancelled() { problems.append("\(error)") }
            }
            withExtendedLifetime(lock) {}
        }
        return problems
    }

    private func pack(_ path: String, _ isCancelled: () -> Bool) throws(RecordingFailure) {
        let target = path + SegmentNames.packedSuffix
        let draft = target + Self.draftSuffix
        // A draft under this name is an abandoned, incomplete file.
        _ = self.disk.unlink(draft)
        // A previous attempt may have ended after naming the file. An existing file is accepted only if its text is
        // equal.
        if access(target, F_OK) == 0 {
            try Self.compare(path, target)
            // Another program may have made it, a moment ago.
            try DiskFile(reading: target).sync(self.disk)
        } else {
            try PackedSegment.pack(path, to: draft, disk: self.disk, isCancelled: isCancelled)
            Self.copyTimes(from: path, to: draft)
            try self.name(draft, target)
        }
        // The original is removed only once the new name is synced, or both could be lost. The next attempt compares
        // the two.
        guard self.disk.syncFolder(self.names.folder) else { throw .system("sync", self.names.folder) }
        guard self.disk.unlink(path) else { throw .system("remove", path) }
        _ = self.disk.syncFolder(self.names.folder)
    }

    /// Gives a draft its final name without replacing an existing file.
    ///
    /// Some file systems have no hard links (FAT, many on phones and in the cloud), others cannot rename without
    /// replacing (old network file systems). Nearly all have one of the two.
    private func name(_ draft: String, _ target: String) throws(RecordingFailure) {
        if self.disk.rename(draft, to: target) { return }
        let isTaken = errno == EEXIST
        let failure = RecordingFailure.system("write", target)
        let isLinked = !isTaken && self.disk.link(draft, as: target)
        _ = self.disk.unlink(draft)
        guard isLinked else { throw failure }
    }

    private static func compare(_ path: String, _ packed: String) throws(RecordingFailure) {
        let one = try RecordingBytes(path: path)
        let other = try RecordingBytes(path: packed)
        var left = try one.next()
        var right = try other.next()
        // Parts that cannot be read are never equal.
        while case .text(var first)? = left, case .text(var second)? = right {
            let count = min(first.readableBytes, second.readableBytes)
            guard first.readSlice(length: count) == second.readSlice(length: count) else { break }
            left = first.readableBytes > 0 ? .text(first) : try one.next()
            right = second.readableBytes > 0 ? .text(second) : try other.next()
        }
        guard left == nil, right == nil else {
            throw RecordingFailure("\(packed) is not \(path) compressed; both are kept")
        }
    }

    /// Gives the compressed file the times of the original.
    private static func copyTimes(from path: String, to target: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        let times = [status.st_atim, status.st_mtim]
        utimensat(AT_FDCWD, target, times, 0)
    }

    // MARK: Removing

    /// Removes the oldest complete files of this recording that are older than `age` (ns) or exceed `bytes` in all.
    ///
    /// - Parameters:
    ///   - now: wall clock, ns since 1970.
    ///   - newest: the file that is being written; it counts towards the size and is not removed.
    /// - Returns: the paths of the removed files.
    package func removeOld(now: Int64, age: Int64?, bytes: Int64?, newest: String) -> [String] {
        var removed: [String] = []
        var all = self.names.family().filter { self.isOurs($0.path) }
        var total = all.reduce(0) { $0 + $1.size }
        while let oldest = all.first {
            all.removeFirst()
            let isOld = age.map { now - oldest.changed > $0 } ?? false
            let isTooMuch = bytes.map { total > $0 } ?? false
            guard isOld || isTooMuch else { break }
            guard oldest.path != newest, let lock = self.lockComplete(oldest.path) else { continue }
            let isGone = self.disk.unlink(oldest.path)
            withExtendedLifetime(lock) {}
            guard isGone else { continue }
            total -= oldest.size
            removed.append(oldest.path)
        }
        if !removed.isEmpty { _ = self.disk.syncFolder(self.names.folder) }
        return removed
    }
}

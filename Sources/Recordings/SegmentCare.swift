import Glibc

/// What becomes of a recording's files once they are complete: they are compressed, and the oldest go.
///
/// Each step leaves the disk in a state from which the next start goes on: the compressed file is whole and on the disk
/// before it gets its name, and has its name before the other one goes.
package struct SegmentCare {
    private static let draftSuffix = ".part"

    private let names: SegmentNames

    package init(_ names: SegmentNames) { self.names = names }

    /// Compresses every complete file that is not, the oldest first; answers with what went wrong, a line each.
    ///
    /// - Parameter isCancelled: asked often.
    package func pack(isCancelled: () -> Bool = { false }) -> [String] {
        var problems: [String] = []
        for segment in self.names.family() where !segment.isPacked && !isCancelled() {
            guard let lock = Self.lockComplete(segment.path) else { continue }
            defer { close(lock) }
            do throws(RecordingFailure) {
                try self.pack(segment.path, isCancelled)
            } catch {
                if !isCancelled() { problems.append("\(error)") }
            }
        }
        return problems
    }

    private func pack(_ path: String, _ isCancelled: () -> Bool) throws(RecordingFailure) {
        let target = path + SegmentNames.packedSuffix
        let draft = target + Self.draftSuffix
        // Only ever half of a compressed file that nobody uses.
        unlink(draft)
        // Named and not gone on: whatever is there under this name, it is replaced by nothing but an equal.
        if access(target, F_OK) == 0 {
            try Self.compare(path, target)
        } else {
            try PackedSegment.pack(path, to: draft, isCancelled: isCancelled)
            Self.copyTimes(from: path, to: draft)
            guard link(draft, target) == 0 else {
                let failure = RecordingFailure.system("write", target)
                unlink(draft)
                throw failure
            }
            unlink(draft)
            Self.syncFolder(self.names.folder)
        }
        guard unlink(path) == 0 else { throw .system("remove", path) }
        Self.syncFolder(self.names.folder)
    }

    private static func compare(_ path: String, _ packed: String) throws(RecordingFailure) {
        let one = try RecordingBytes(path: path)
        let other = try RecordingBytes(path: packed)
        var left = try one.next()
        var right = try other.next()
        while var first = left, var second = right {
            let count = min(first.readableBytes, second.readableBytes)
            guard first.readSlice(length: count) == second.readSlice(length: count) else { break }
            left = first.readableBytes > 0 ? first : try one.next()
            right = second.readableBytes > 0 ? second : try other.next()
        }
        guard left == nil, right == nil, other.damagedParts == 0 else {
            throw RecordingFailure("\(packed) is not \(path) compressed; both are kept")
        }
    }

    /// Removes the oldest complete files that are older than `age` (ns) or more than `bytes` in all.
    ///
    /// - Parameters:
    ///   - now: wall clock, ns since 1970.
    ///   - newest: the file that is being written; it counts and stays.
    /// - Returns: what was removed.
    package func removeOld(now: Int64, age: Int64?, bytes: Int64?, newest: String) -> [String] {
        var removed: [String] = []
        var all = self.names.family()
        var total = all.reduce(0) { $0 + $1.size }
        while let oldest = all.first {
            all.removeFirst()
            let isOld = age.map { now - oldest.changed > $0 } ?? false
            let isTooMuch = bytes.map { total > $0 } ?? false
            guard isOld || isTooMuch else { break }
            guard oldest.path != newest, let lock = Self.lockComplete(oldest.path) else { continue }
            defer { close(lock) }
            guard unlink(oldest.path) == 0 else { continue }
            total -= oldest.size
            removed.append(oldest.path)
        }
        if !removed.isEmpty { Self.syncFolder(self.names.folder) }
        return removed
    }

    /// Locks a file that nobody writes any more; `nil` where somebody does. The lock goes when the descriptor is closed.
    private static func lockComplete(_ path: String) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// The compressed file is as old as what is in it.
    private static func copyTimes(from path: String, to target: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        let times = [status.st_atim, status.st_mtim]
        utimensat(AT_FDCWD, target, times, 0)
    }

    private static func syncFolder(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }
}

import Glibc
import NIOCore
package import Wire

/// The recordings of earlier runs in a folder, of which the newest trades are read, so that who comes back after a restart
/// finds what it has missed.
///
/// Read from each file's end, in a bounded time, however long the file is. A recording that another program still writes
/// is not an earlier one.
package struct EarlierRecordings {
    /// How much is looked for, and how long.
    package struct Limits: Sendable {
        /// Trades, in all files together.
        package var trades = 100_000
        /// How old a trade may be, ns.
        package var age: Int64 = 600_000_000_000
        /// Bytes read, in all files together.
        package var bytes = 64 << 20
        /// How long all of it may take, ns.
        package var time: Int64 = 2_000_000_000
        /// Files that are opened, the newest first.
        package var files = 16

        package init() {}
    }

    private static let blockBytes = 1 << 20
    /// Where the header must end, in bytes.
    private static let headerBytes = 256 << 10

    private let folder: String
    private let limits: Limits
    private let deadline: Int64

    package init(folder: String, limits: Limits = Limits()) {
        self.folder = folder
        self.limits = limits
        self.deadline = Self.monotonic + limits.time
    }

    private static var monotonic: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }

    /// The newest trades of the market that are recorded there, a value for each run, the oldest first.
    ///
    /// Files that cannot be read are passed over: a restart must not fail for the sake of what was before it.
    ///
    /// - Parameter now: wall clock, ns since 1970.
    package func trades(now: Int64) -> [RecordedTrades] {
        var runs: [RecordedTrades] = []
        var missing = self.limits.trades
        var bytes = self.limits.bytes
        for path in self.candidates(now: now).prefix(self.limits.files) {
            guard missing > 0, bytes > 0, Self.monotonic < self.deadline else { break }
            guard let found = self.tail(of: path, limit: missing, now: now, bytes: &bytes) else { continue }
            // A copy of a file that was read already.
            guard !runs.contains(where: { $0.epoch == found.epoch }) else { continue }
            missing -= found.trades.count
            runs.append(found)
        }
        return runs.sorted { $0.epoch < $1.epoch }
    }

    /// The files that may hold trades young enough, the newest first.
    private func candidates(now: Int64) -> [String] {
        guard let listing = opendir(self.folder) else { return [] }
        defer { closedir(listing) }
        var found: [(path: String, changed: Int64)] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".jsonl") else { continue }
            let path = "\(self.folder)/\(name)"
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let changed = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
            if changed >= now - self.limits.age { found.append((path, changed)) }
        }
        return found.sorted { ($0.changed, $0.path) > ($1.changed, $1.path) }.map(\.path)
    }

    private func tail(of path: String, limit: Int, now: Int64, bytes: inout Int) -> RecordedTrades? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Its writer holds the lock for as long as it lives.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var offset = Int64(status.st_size)
        guard let head = Self.read(descriptor, at: 0, count: Int(min(offset, Int64(Self.headerBytes)))) else {
            return nil
        }
        var lines = RecordingReader()
        lines.feed(head)
        guard case .header(let header)? = lines.next(), header.source == "live" else { return nil }
        var tail = RecordedTail(header: header, limit: limit, notBefore: now - self.limits.age)
        while !tail.isComplete, offset > 0, bytes > 0, Self.monotonic < self.deadline {
            let count = Int(min(offset, Int64(min(Self.blockBytes, bytes))))
            offset -= Int64(count)
            bytes -= count
            guard let block = Self.read(descriptor, at: offset, count: count) else { break }
            tail.take(block, isFirst: offset == 0)
        }
        return tail.found()
    }

    /// Reads so many bytes, or `nil` where they are not there.
    private static func read(_ descriptor: Int32, at offset: Int64, count: Int) -> ByteBuffer? {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(count)
        while buffer.readableBytes < count {
            let place = off_t(offset) + off_t(buffer.readableBytes)
            let left = count - buffer.readableBytes
            let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: left) { bytes in
                while true {
                    let got = pread(descriptor, bytes.baseAddress, left, place)
                    if got >= 0 || errno != EINTR { return max(got, 0) }
                }
            }
            guard got > 0 else { return nil }
        }
        return buffer
    }
}

import Glibc
import NIOCore
import NIOEmbedded

/// The soak's two clocks: a loop whose time is set by hand, and a wall clock that continues while the machine sleeps.
///
/// Unchecked, because everything runs on the test's thread, which is the loop's too.
final class SoakClock: @unchecked Sendable {
    static let second: Int64 = 1_000_000_000
    static let day: Int64 = 86_400 * second
    /// The wall clock's first reading: 2027-01-15T08:00:00Z.
    static let start: Int64 = 1_800_000_000 * second

    let loop = EmbeddedEventLoop()
    /// How long the machine has slept in all, ns.
    private var slept: Int64 = 0

    var monotonic: Int64 { Int64(self.loop.now.uptimeNanoseconds) }
    var wall: Int64 { Self.start + self.monotonic + self.slept }

    /// Advances the time, timer by timer.
    func pass(to wall: Int64) {
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(max(wall - Self.start - self.slept, 0))))
    }

    /// Lets the machine sleep: only the wall clock advances.
    func sleep(to wall: Int64) { self.slept += max(wall - self.wall, 0) }
}

/// The size of the heap, as the C library counts it.
enum SoakHeap {
    /// Returns the bytes in use; `nil` if the library does not report them.
    static func bytesInUse() -> Int? {
        typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        guard let symbol = dlsym(nil, "malloc_info") else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        var length = 0
        guard let file = open_memstream(&text, &length) else { return nil }
        _ = unsafeBitCast(symbol, to: MallocInfo.self)(0, file)
        fclose(file)
        defer { free(text) }
        guard let text else { return nil }
        return Self.bytesInUse(String(cString: text))
    }

    /// Returns the system's memory minus the free memory, from the sums at the end of `malloc_info`'s report.
    static func bytesInUse(_ report: String) -> Int? {
        guard let end = report.split(separator: "</heap>").last else { return nil }
        var inUse: Int?
        for line in end.split(separator: "\n") {
            guard let size = line.split(separator: "size=\"").dropFirst().first?.split(separator: "\"").first,
                let bytes = Int(size)
            else { continue }
            if line.contains("system type=\"current\"") || line.contains("total type=\"mmap\"") {
                inUse = (inUse ?? 0) + bytes
            } else if line.contains("total type=\"fast\"") || line.contains("total type=\"rest\"") {
                inUse = (inUse ?? 0) - bytes
            }
        }
        return inUse
    }
}

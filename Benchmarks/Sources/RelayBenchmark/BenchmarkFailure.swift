import Glibc

/// The reason why a measurement failed, in one line.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Returns the failure of a system call, with the system's reason.
    static func call(_ name: String) -> BenchmarkFailure {
        BenchmarkFailure("\(name): \(String(cString: strerror(errno)))")
    }
}

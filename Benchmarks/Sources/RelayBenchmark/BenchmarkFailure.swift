import Glibc

/// Why a measurement cannot be made, in one line.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A failed call, with the system's reason.
    static func call(_ name: String) -> BenchmarkFailure {
        BenchmarkFailure("\(name): \(String(cString: strerror(errno)))")
    }
}

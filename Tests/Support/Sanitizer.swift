import Foundation

/// The sanitizer with which the tests and the programs that they start were built (`scripts/sanitize` says so), and what some
/// programs have to be told about it.
///
/// Without a sanitizer there is nothing to say, so that a test reads the same for all three.
package enum Sanitizer: String {
    case thread
    case address

    private static let ours = ProcessInfo.processInfo.environment

    /// `nil` in a normal build.
    package static let current = ours["TICKERTAPE_SANITIZER"].flatMap(Self.init(rawValue:))

    /// The environment of a program whose files may not grow (`ulimit -f`).
    ///
    /// ThreadSanitizer fills half a mebibyte of its shadow from a file in TMPDIR, and ends with SIGBUS where that was cut off;
    /// where there is no such folder it does without.
    package static let withSmallFiles = ["TMPDIR": "/nonexistent"]

    /// The environment of a program that is sent the signals of faults, and whose own answer to them is what is tested.
    package static let withFaults = options("handle_segv=0")

    /// The environment of a program that Swift's runtime is to write a backtrace of, which AddressSanitizer would refuse.
    ///
    /// The runtime reads whole pages of stacks with `memcpy`, and whatever AddressSanitizer says of the process it does so
    /// in (that its stack is a strange one) is for nobody's list of reports.
    package static let withBacktrace = options("handle_segv=0:replace_intrin=0:log_path=stderr")

    /// Adds to the options that the sanitizer has got.
    private static func options(_ added: String) -> [String: String] {
        guard let current else { return [:] }
        let name = current == .thread ? "TSAN_OPTIONS" : "ASAN_OPTIONS"
        return [name: (ours[name].map { "\($0):" } ?? "") + added]
    }
}

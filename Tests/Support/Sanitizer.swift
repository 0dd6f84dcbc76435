import Foundation

/// The sanitizer with which the tests and the programs that they start were built (set by `scripts/sanitize`), and the
/// environment that some programs need because of it.
///
/// Without a sanitizer that environment is mostly empty, so that a test reads the same in all three builds.
package enum Sanitizer: String {
    case thread
    case address

    private static let ours = ProcessInfo.processInfo.environment

    /// The current sanitizer; `nil` in a normal build.
    package static let current = ours["TICKERTAPE_SANITIZER"].flatMap(Self.init(rawValue:))

    /// The environment of a program whose files may not grow (`ulimit -f`).
    ///
    /// ThreadSanitizer maps half a mebibyte of its shadow memory from a file in TMPDIR, and dies of SIGBUS if that file
    /// was truncated. Without such a folder it does not need the file.
    package static let withSmallFiles = ["TMPDIR": "/nonexistent"]

    /// The environment of a program that handles fault signals itself, which is what the test is about.
    package static let withFaults = options("handle_segv=0")

    /// The environment of a program of which Swift's runtime writes a backtrace, which AddressSanitizer would prevent.
    ///
    /// The runtime reads whole pages of stacks with `memcpy`. AddressSanitizer's reports about the process that does so
    /// (it has an unusual stack) do not belong in the list of reports.
    package static let withBacktrace = options("handle_segv=0:replace_intrin=0:log_path=stderr")

    /// Appends to the sanitizer's existing options.
    private static func options(_ added: String) -> [String: String] {
        guard let current else { return [:] }
        let name = current == .thread ? "TSAN_OPTIONS" : "ASAN_OPTIONS"
        return [name: (ours[name].map { "\($0):" } ?? "") + added]
    }
}

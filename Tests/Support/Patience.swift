import Foundation

/// How many times as long as usual a test may take: 1, and more under a sanitizer, where everything takes longer.
///
/// Only limits are multiplied with it that are there for what hangs; what a test measures, it never touches.
package enum Patience {
    /// From the environment, where `scripts/sanitize` sets it.
    package static let factor =
        ProcessInfo.processInfo.environment["TICKERTAPE_TEST_PATIENCE"].flatMap(Int.init).map { max($0, 1) } ?? 1
}

import Foundation

/// How many times as long as usual a test may take: 1 by itself, 3 where all tests run (`scripts/test`), because a busy
/// machine is slow and now and then stands still, and 6 under a sanitizer (`scripts/sanitize`), where everything takes longer.
///
/// Only limits are multiplied with it that are there for what hangs; what a test measures or waits out, it never touches.
package enum Patience {
    /// From the environment, where the scripts set it.
    package static let factor =
        ProcessInfo.processInfo.environment["TICKERTAPE_TEST_PATIENCE"].flatMap(Int.init).map { max($0, 1) } ?? 1
}

import Foundation

/// The factor for the time limits of tests: 1 for a single test, 3 under `scripts/test`, because a busy machine is slow
/// and sometimes stalls, and 6 under `scripts/sanitize`, because a sanitizer slows everything down.
///
/// It applies only to limits that guard against hanging, never to times that a test measures or waits for.
package enum Patience {
    /// The factor from the environment, where the scripts set it.
    package static let factor =
        ProcessInfo.processInfo.environment["TICKERTAPE_TEST_PATIENCE"].flatMap(Int.init).map { max($0, 1) } ?? 1
}

import Feeds
import Logging
import NIOConcurrencyHelpers
import Platform
import Recordings

/// The lock and the memory of a live feed's key, where the settings and the system have a place for them.
struct KeyKeeping {
    let lock: KeyLock?
    let ledger: AttemptFile?
    let warnings: ProgramWarnings
    /// What waits for the disk of the lock, which is mostly memory, and for that of the attempts, which is not.
    let lockDisk = WorkQueue("key-lock")
    private let ledgerDisk = WorkQueue("attempts")

    init(_ settings: Settings.State, feed: FinnhubSettings, surroundings: Surroundings = .ofThisProcess) {
        let warnings = ProgramWarnings()
        let identity = KeyIdentity(key: feed.key, upstream: feed.upstream)
        self.warnings = warnings
        switch settings.directory {
        case .off:
            self.ledger = nil
        case .path(let path):
            self.ledger = AttemptFile(directory: path, identity: identity) { warnings.tell($0) }
        case .auto:
            if let path = surroundings.stateFolder {
                self.ledger = AttemptFile(directory: path, identity: identity) { warnings.tell($0) }
            } else {
                self.ledger = nil
                warnings.tell("attempts are not remembered over a restart: there is no HOME (state.directory)")
            }
        }
        switch settings.runtimeDirectory {
        case .off:
            self.lock = nil
        case .path(let path):
            self.lock = KeyLock(folders: [path], identity: identity) { warnings.tell($0) }
        case .auto:
            self.lock = KeyLock(folders: surroundings.runtimeFolders, identity: identity) { warnings.tell($0) }
        }
        // A damaged file is told of while there is no picture yet.
        _ = self.ledger?.load()
    }

    var holding: KeyHolding {
        KeyHolding(
            ownership: self.lock,
            ledger: self.ledger,
            lockDisk: self.lockDisk,
            ledgerDisk: self.ledgerDisk,
            warn: { [warnings] in warnings.tell($0) }
        )
    }

    /// Says in the lock's file that there is no relay.
    func announceNoRelay() {
        let lock = self.lock
        self.lockDisk.submit { lock?.announce(.off) }
    }
}

/// Where warnings go: to standard error, and later to the log, which never gets into the picture.
final class ProgramWarnings: Sendable {
    private let logger = NIOLockedValueBox<Logger?>(nil)

    /// From now on there is a picture.
    func go(to logger: Logger) { self.logger.withLockedValue { $0 = logger } }

    func tell(_ text: String) {
        if let logger = self.logger.withLockedValue({ $0 }) {
            logger.warning("A warning", metadata: ["text": "\(text)"])
        } else {
            Console.complain("warning: \(text)")
        }
    }
}

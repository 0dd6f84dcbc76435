import Glibc
import Market
import NIOCore
import ServiceLifecycle
import Wire

/// The service manager, which is told how the program goes (sd_notify(3)); where there is none, nobody is told.
///
/// Also a reader of the tape, for the feed's state is the line that `systemctl status` shows.
final class ServiceManager: TapeReader {
    /// The address of the manager's socket; a leading NUL stands for one without a file.
    private let address: [UInt8]?
    /// How often the manager wants to hear that the program works; `nil` where it does not.
    let watchdogInterval: Duration?

    init(_ environment: ProcessEnvironment = .current) {
        self.address = environment.variable("NOTIFY_SOCKET").flatMap { text in
            var bytes = Array(text.utf8)
            // A path of a file or the name of a socket without one; other kinds (vsock) need more than a datagram.
            guard let first = bytes.first, bytes.count < 107 else { return nil }
            if first == UInt8(ascii: "@") { bytes[0] = 0 } else if first != UInt8(ascii: "/") { return nil }
            return bytes
        }
        let isMeant = environment.variable("WATCHDOG_PID").map { $0 == "\(environment.processID)" } ?? true
        let microseconds = environment.variable("WATCHDOG_USEC").flatMap(Int64.init) ?? 0
        // Twice as often as is wanted, so that one late message is no death (sd_watchdog_enabled(3)).
        self.watchdogInterval = isMeant && microseconds > 0 ? .microseconds(max(microseconds / 2, 1_000)) : nil
    }

    /// Whether anybody hears what is told.
    var isThere: Bool { self.address != nil }

    /// Tells the manager assignments such as `READY=1`. Never waits: where the manager does not take it, it is lost.
    func notify(_ assignments: String...) {
        guard let address = self.address else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        // The length tells where a name without a file ends.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count + (address[0] == 0 ? 0 : 1))
        let text = Array(assignments.joined(separator: "\n").utf8)
        _ = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, length)
            }
        }
    }

    func read(_ batch: TapeBatch) {}

    func gapFound(_ gap: Gap) {}

    func statusChanged(_ status: FeedStatus) { self.notify("STATUS=\(Self.words(for: status))") }

    /// The state and its reason, in one line.
    static func words(for status: FeedStatus) -> String {
        let text = status.reason.map { "\(status.word): \($0)" } ?? status.word
        // A line end in it would begin another assignment.
        return PrintableText.line(text, limit: 256)
    }

    /// Tells that the program runs, and at once when its end begins.
    ///
    /// - Parameter closing: what also comes first at the end.
    func life(closing: @escaping @Sendable () async -> Void) -> NamedService {
        NamedService("readiness") {
            self.notify("READY=1")
            try? await gracefulShutdown()
            self.notify("STOPPING=1")
            await closing()
        }
    }

    /// Tells again and again that the program works, as long as every one of these loops does.
    func watch(_ loops: [any EventLoop]) -> NamedService {
        NamedService("watchdog") {
            guard self.isThere, let interval = self.watchdogInterval else {
                try? await gracefulShutdown()
                return
            }
            try? await cancelWhenGracefulShutdown {
                while true {
                    // A loop that hangs never answers this, and the manager hears nothing more.
                    for loop in loops { try await loop.submit {}.get() }
                    self.notify("WATCHDOG=1")
                    try await Task.sleep(for: interval)
                }
            }
        }
    }
}

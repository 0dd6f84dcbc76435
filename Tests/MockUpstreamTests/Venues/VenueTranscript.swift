import NIOCore
import WebSocket
@testable import MockUpstream

/// What a session sends and does, as text.
enum VenueTranscript {
    static func words(_ outputs: [MockOutput]) -> [String] {
        outputs.map { output in
            switch output {
            case .text(let text): String(buffer: text)
            case .ping(let payload): "ping: \(String(buffer: payload))"
            case .close(let code, let reason): "close: \(code.rawValue) \(reason)"
            case .disconnect(let reason): "disconnect: \(reason)"
            }
        }
    }
}

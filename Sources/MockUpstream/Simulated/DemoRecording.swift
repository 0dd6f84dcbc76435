package import NIOCore
import Wire

/// The recording that the program brings along, for whoever has no key: three minutes of the simulated market.
///
/// The file in the program's resources is what this makes; a test compares them.
package enum DemoRecording {
    package static let seed: UInt64 = 6
    /// How long it is, ns.
    package static let length: Int64 = 180_000_000_000

    /// The recording's bytes.
    package static func encoded() -> ByteBuffer {
        let settings = SimulatedMarket.Settings(seed: Self.seed)
        var market = SimulatedMarket(settings)
        var recording = RecordingBuffer(
            RecordingHeader(symbols: market.symbolNames, start: settings.start * 1_000_000)
        )
        while true {
            let frame = market.nextFrame()
            guard frame.at < Self.length else { break }
            recording.frame(frame.text, at: frame.at)
        }
        recording.end()
        return recording.bytes
    }
}

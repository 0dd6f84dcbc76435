package import NIOCore

/// A request for the frames after a position: `{"type":"history","epoch":…,"frame":…,"seq":…}`.
package struct ClusterHistoryRequest: Sendable, Equatable {
    /// How long an ingest keeps its frames.
    package static let span: TimeAmount = .seconds(120)

    /// The newest frame that the edge has.
    package var position: ClusterPosition

    package init(after position: ClusterPosition) { self.position = position }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "history")
        out.position(self.position)
        return out.finish()
    }

    /// Reads a text; `nil` if it is no such request.
    package static func parse(_ text: ByteBuffer) -> ClusterHistoryRequest? {
        guard let head = ClusterHead(text), head.type == "history", let position = head.position else { return nil }
        return ClusterHistoryRequest(after: position)
    }
}

/// The answer to a ``ClusterHistoryRequest``: a head `{"type":"history","complete":…,"epoch":…,"frame":…,"seq":…}`, and
/// the frames that follow the position, as many as fit. With `complete` the first one is the next; otherwise frames
/// before it are gone.
package struct ClusterHistoryAnswer: Sendable, Equatable {
    package var isComplete: Bool
    /// The position of the ingest's newest frame, which can be behind the last one here; `nil` if it does not say it.
    package var newest: ClusterPosition?
    package var frames: [ClusterFrame]

    package init(isComplete: Bool, newest: ClusterPosition? = nil, frames: [ClusterFrame]) {
        self.isComplete = isComplete
        self.newest = newest
        self.frames = frames
    }

    package func text() -> ByteBuffer {
        var out = JSONWriter(type: "history")
        out.field("complete", self.isComplete)
        if let newest { out.position(newest) }
        var text = out.finish()
        for frame in self.frames {
            text.writeStaticString("\n")
            var frame = frame.text()
            // The frame's last line feed stands between two frames already.
            if frame.readableBytesView.last == UInt8(ascii: "\n") {
                frame.moveWriterIndex(to: frame.writerIndex - 1)
            }
            text.writeBuffer(&frame)
        }
        return text
    }

    /// Reads a text; `nil` if it is no such answer.
    package static func parse(_ text: ByteBuffer) -> ClusterHistoryAnswer? {
        var rest = text
        guard let line = rest.readClusterLine(), let head = ClusterHead(line), head.type == "history",
            let isComplete = head.isComplete
        else { return nil }
        var frames: [ClusterFrame] = []
        var next: (head: ClusterHead, lines: ByteBuffer)?
        func end() -> Bool {
            guard let (head, lines) = next else { return true }
            guard let frame = ClusterFrame(head, lines: lines) else { return false }
            frames.append(frame)
            return true
        }
        while let line = rest.readClusterLine() {
            if line.begins(with: "{\"type\":\"frame\",") {
                guard end(), let head = ClusterHead(line) else { return nil }
                next = (head, ByteBuffer())
            } else {
                guard next != nil else { return nil }
                next?.lines.writeImmutableBuffer(line)
                next?.lines.writeStaticString("\n")
            }
        }
        guard end() else { return nil }
        return ClusterHistoryAnswer(isComplete: isComplete, newest: head.position, frames: frames)
    }
}

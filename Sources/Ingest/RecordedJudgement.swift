import Wire

/// What the recording of a replay says of the frames of the current read: which of their trades are on the tape, and
/// which of those had been missing. Nothing for a live feed.
struct RecordedJudgement {
    /// Whether the recording judges the frames from the next one on.
    var isOn = false
    /// What it says of the next frame; `nil` if that is not in the recording.
    private var next: FramePlaces? = FramePlaces()
    /// What it says of each frame of the read; the frames behind the last one are not judged.
    private var frames: [FramePlaces?] = []

    /// Whether no frame of the read is judged.
    var isEmpty: Bool { self.frames.isEmpty }

    /// What the recording says of a frame of the read, by its index; `nil` if it does not judge it.
    func places(of frame: Int) -> FramePlaces? { frame < self.frames.count ? self.frames[frame] : nil }

    /// Takes what the recording says of the next frame; with `nil`, that is not in the recording.
    mutating func announce(_ places: FramePlaces?) { if self.isOn { self.next = places } }

    /// Forgets what was said of the next frame.
    mutating func forgetNext() { self.next = FramePlaces() }

    /// Takes a frame of the read.
    mutating func frameTaken(_ index: Int) {
        while self.frames.count < index { self.frames.append(nil) }
        self.frames.append(self.next)
        self.forgetNext()
    }

    /// Ends the read.
    mutating func readEnded() { self.frames.removeAll(keepingCapacity: true) }
}

extension ArraySlice<Int> {
    /// Removes the first place if it is this one; returns whether it was.
    mutating func takeFirst(_ place: Int) -> Bool {
        guard self.first == place else { return false }
        self.removeFirst()
        return true
    }
}

// Films: pictures at exact times, made into H.264 by the browser and into an MP4 file by mp4-muxer.
import { ArrayBufferTarget, Muxer } from 'mp4-muxer';

const codecs = ['avc1.640028', 'avc1.42001f'];

async function chooseCodec(width, height, fps) {
    if (typeof VideoEncoder === 'undefined') return null;
    for (const codec of codecs) {
        const config = { codec, width, height, framerate: fps, bitrate: 4 * width * height };
        const { supported } = await VideoEncoder.isConfigSupported(config);
        if (supported) return config;
    }
    return null;
}

function base64Of(buffer) {
    const bytes = new Uint8Array(buffer);
    let text = '';
    for (let i = 0; i < bytes.length; i += 32768)
        text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return btoa(text);
}

/** The whole run as base64 of an MP4 file. */
export async function film(app, { fps, speed, width, height }) {
    const config = await chooseCodec(width, height, fps);
    if (!config) throw new Error('This browser cannot encode H.264.');
    const target = new ArrayBufferTarget();
    const muxer = new Muxer({
        target,
        video: { codec: 'avc', width, height, frameRate: fps },
        fastStart: 'in-memory',
    });
    let failed = null;
    const encoder = new VideoEncoder({
        output: (chunk, meta) => muxer.addVideoChunk(chunk, meta),
        error: (error) => {
            failed = error;
        },
    });
    encoder.configure(config);
    const { first, length } = app.player;
    const count = Math.max(1, Math.round((length / speed) * fps));
    app.player.play(false);
    for (let i = 0; i < count && !failed; ++i) {
        app.player.setTime(first + (i * speed) / fps);
        const frame = new VideoFrame(app.picture(width, height), {
            timestamp: Math.round((1e6 * i) / fps),
            duration: Math.round(1e6 / fps),
        });
        encoder.encode(frame, { keyFrame: i % 60 === 0 });
        frame.close();
        while (encoder.encodeQueueSize > 4) await new Promise((done) => setTimeout(done, 5));
    }
    await encoder.flush();
    if (failed) throw failed;
    muxer.finalize();
    return base64Of(target.buffer);
}

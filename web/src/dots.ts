// Objects as one draw of GL points: each glides on the GPU from where it was to where it is.
// Not instanced quads, as ScatterplotLayer has: software renderers draw instances one by one.
import {Layer, picking, project32, type LayerProps} from '@deck.gl/core';
import {Model} from '@luma.gl/engine';

export interface DotsProps extends LayerProps {
  data: {length: number; attributes: Record<string, {value: Float32Array | Uint8Array; size: number; type?: string; normalized?: boolean}>};
  /** Seconds of the map's clock, asked at each frame. */
  clock: () => number;
  glide: number;
  size: number;
  isRing: boolean;
}

// One field a line: luma reads them so.
const dots = {
  name: 'dots',
  vs: `layout(std140) uniform dotsUniforms {
  float now;
  float glide;
  float size;
  float ring;
  float square;
} dots;`,
  fs: `layout(std140) uniform dotsUniforms {
  float now;
  float glide;
  float size;
  float ring;
  float square;
} dots;`,
  uniformTypes: {now: 'f32', glide: 'f32', size: 'f32', ring: 'f32', square: 'f32'},
} as const;

const vs = `#version 300 es
in vec3 starts; // x, y, second
in vec2 goals;
in vec4 colours;
in float headings;
out vec4 colour;
out vec3 ahead; // a direction on the screen, and whether there is one
void main(void) {
  float part = dots.glide > 0.0 ? clamp((dots.now - starts.z) / dots.glide, 0.0, 1.0) : 1.0;
  vec3 place = vec3(mix(starts.xy, goals, part), 0.0);
  geometry.worldPosition = place;
  geometry.pickingColor = picking_getPickingColorFromIndex(float(gl_VertexID));
  gl_Position = project_position_to_clipspace(place, vec3(0.0), vec3(0.0), geometry.position);
  if (colours.a == 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // nowhere
  ahead = headings < 0.0 ? vec3(0.0) : vec3(sin(radians(headings)), -cos(radians(headings)), 1.0);
  // A pointed dot has the same body in a larger square.
  gl_PointSize = (dots.size * (1.0 + 0.6 * ahead.z) + 2.0) * project.devicePixelRatio;
  colour = vec4(colours.rgb, colours.a * layer.opacity);
  DECKGL_FILTER_COLOR(colour, geometry);
}`;

const fs = `#version 300 es
precision highp float;
in vec4 colour;
in vec3 ahead;
out vec4 fragColor;
void main(void) {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float body = mix(1.0, 0.66, ahead.z);
  float along = dot(p, ahead.xy);
  float across = abs(dot(p, vec2(-ahead.y, ahead.x)));
  float far = length(p);
  bool isNose = ahead.z > 0.0 && along > 0.0 && across < (0.98 - along) * 0.75;
  float pixel = 2.0 / dots.square;
  float edge = isNose ? 1.0 : 1.0 - smoothstep(body - pixel, body, far);
  if (edge <= 0.0) discard;
  if (dots.ring > 0.0 && far < 0.72) discard;
  // A rim, so that dots stand out of each other and of the ground.
  float rim = far > body - 1.6 * pixel && !isNose && dots.ring == 0.0 ? 0.7 : 1.0;
  fragColor = vec4(colour.rgb * rim, colour.a * edge);
  DECKGL_FILTER_COLOR(fragColor, geometry);
}`;

export class Dots extends Layer<DotsProps> {
  static layerName = 'Dots';
  static defaultProps = {
    getStart: {type: 'accessor', value: [0, 0, 0]},
    getGoal: {type: 'accessor', value: [0, 0]},
    getColour: {type: 'accessor', value: [0, 0, 0, 255]},
    getHeading: {type: 'accessor', value: -1},
    clock: {type: 'function', value: () => 0},
    glide: 1,
    size: 6,
    isRing: false,
  };
  declare state: {model: Model};

  getShaders(): unknown {
    return super.getShaders({vs, fs, modules: [project32, picking, dots]});
  }

  initializeState(): void {
    const attributes = this.getAttributeManager()!;
    attributes.remove(['instancePickingColors']);
    attributes.add({
      starts: {size: 3, accessor: 'getStart'},
      goals: {size: 2, accessor: 'getGoal'},
      colours: {size: 4, type: 'unorm8', accessor: 'getColour'},
      headings: {size: 1, accessor: 'getHeading'},
    });
    this.setState({
      model: new Model(this.context.device, {
        ...(this.getShaders() as object),
        id: this.props.id,
        bufferLayout: attributes.getBufferLayouts(),
        topology: 'point-list',
        isInstanced: false,
      } as ConstructorParameters<typeof Model>[1]),
    });
  }

  draw(): void {
    const {clock, glide, size, isRing, data} = this.props;
    const {model} = this.state;
    model.setVertexCount(data.length);
    model.shaderInputs.setProps({dots: {now: clock(), glide, size, ring: isRing ? 1 : 0, square: size * 1.6 + 2}});
    model.draw(this.context.renderPass);
  }
}
